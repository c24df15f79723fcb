import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../project/source-imports.ts';
import { CommandGroup } from './command-group.ts';
import { userEnvironment } from './installed-package.ts';

const execute = promisify(execFile);

/** The image's `node` is the Node of this process; npm is the machine's. */
const PATH = [dirname(process.execPath), process.env.PATH].join(':');

interface Stage {
  /** In place of `/`. */
  readonly root: string;
  workdir: string;
  readonly variables: Record<string, string>;
  readonly commands: Record<string, readonly string[]>;
}

/**
 * What the Dockerfile makes, without Docker: a stage is a folder, COPY copies, RUN runs there. The base image,
 * the user `node` and the limits of a container are not there; an instruction that is not known is refused.
 */
export class ContainerImage {
  readonly #stage: Stage;

  private constructor(stage: Stage) {
    this.#stage = stage;
  }

  static async build(folder: string): Promise<ContainerImage> {
    const dockerfile = await readFile(join(projectRoot, 'Dockerfile'), 'utf8');
    const lines = dockerfile.replaceAll('\\\n', '').split('\n');
    const stages = new Map<string, Stage>();
    let stage: Stage | undefined;
    for (const line of lines.filter((text) => text !== '' && !text.startsWith('#'))) {
      const [, instruction = '', rest = ''] = /^(\w+) +(.+)$/.exec(line) ?? [];
      if (instruction === 'FROM') {
        const name = rest.split(' AS ')[1] ?? 'last';
        stage = { root: join(folder, name), workdir: '/', variables: {}, commands: {} };
        stages.set(name, stage);
      } else if (stage) await follow(instruction, rest, stage, stages);
    }
    if (!stage) throw new Error('the Dockerfile has no stage');
    return new ContainerImage(stage);
  }

  get root(): string {
    return this.#stage.root;
  }

  /** Runs its ENTRYPOINT or the command of its HEALTHCHECK, on another port than 3001. */
  run(
    instruction: 'ENTRYPOINT' | 'HEALTHCHECK',
    port: number,
    further: readonly string[] = [],
  ): CommandGroup {
    const { root, workdir, variables, commands } = this.#stage;
    const [program = '', ...args] = commands[instruction] ?? [];
    const environment = {
      PATH,
      ...variables,
      AGENT_SERVICE_DATA_DIR: join(root, variables.AGENT_SERVICE_DATA_DIR ?? ''),
      AGENT_SERVICE_CONFIG: join(root, variables.AGENT_SERVICE_CONFIG ?? ''),
      PORT: String(port),
    };
    return new CommandGroup(program, [...args, ...further], { cwd: join(root, workdir), environment });
  }
}

async function follow(
  instruction: string,
  rest: string,
  stage: Stage,
  stages: ReadonlyMap<string, Stage>,
): Promise<void> {
  const here = join(stage.root, stage.workdir);
  switch (instruction) {
    case 'WORKDIR':
      stage.workdir = rest;
      await mkdir(join(stage.root, rest), { recursive: true });
      return;
    case 'COPY':
      return copy(rest, here, stages);
    case 'RUN':
      return run(rest, stage.root, here);
    case 'ENV':
      for (const [, name = '', value = ''] of rest.matchAll(/(\w+)=(\S+)/g)) stage.variables[name] = value;
      return;
    case 'ENTRYPOINT':
    case 'HEALTHCHECK':
      stage.commands[instruction] = [...rest.slice(rest.indexOf('[')).matchAll(/"([^"]+)"/g)].map(
        ([, word = '']) => word,
      );
      return;
    case 'USER':
    case 'VOLUME':
    case 'EXPOSE':
      return;
    default:
      throw new Error(`the Dockerfile has an instruction that is not known here: ${instruction}`);
  }
}

async function copy(rest: string, here: string, stages: ReadonlyMap<string, Stage>): Promise<void> {
  const [, from, paths = ''] = /^(?:--from=(\w+) )?(.+)$/.exec(rest) ?? [];
  const words = paths.split(' ');
  const to = words.pop() ?? '';
  const source = from === undefined ? projectRoot : stages.get(from)?.root;
  if (source === undefined) throw new Error(`the Dockerfile has no stage ${from}`);
  for (const path of words) {
    // As Docker does: several files, or a folder with a slash at its end, are copied into a folder.
    const target = /\/$/.test(to) ? join(here, to, path.split('/').at(-1) ?? '') : join(here, to);
    await cp(join(source, path), target, { recursive: true, verbatimSymlinks: true });
  }
}

async function run(command: string, root: string, here: string): Promise<void> {
  if (command.startsWith('npm ci ') && !command.includes('--omit')) {
    // All packages of the lock file are what the checkout has.
    await symlink(join(projectRoot, 'node_modules'), join(here, 'node_modules'));
    return;
  }
  const withoutUser = command.replace('-o node -g node ', '').replace(/ \/(?=\w)/g, ` ${root}/`);
  await execute('/bin/sh', ['-c', withoutUser], { cwd: here, env: { ...userEnvironment, PATH } });
}
