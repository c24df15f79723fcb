import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandGroup } from './command-group.ts';
import { tempDirectory } from './temp-directory.ts';

/** What systemd gives to every service of the machine; what else this process has is not passed on. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface SystemdService extends AsyncDisposable {
  readonly command: CommandGroup;
  /** An API key of an admin, made before the start. */
  readonly key: string;
  /** Its `StateDirectory`. */
  readonly state: string;
}

/**
 * The unit's `ExecStart` with its environment, files and folders, as systemd starts it; only its absolute paths
 * are led elsewhere. The user, the sandbox and restarts are systemd's own and are not there.
 * @param installed the folder that the unit calls /opt/agent-service.
 */
export async function systemdService(installed: string): Promise<SystemdService> {
  const temp = await tempDirectory();
  const [etc, state] = [join(temp.path, 'etc'), join(temp.path, 'state')];
  for (const folder of [etc, state]) await mkdir(folder);
  const packaged = join(installed, 'node_modules', 'agent-service');
  await configure(etc, await readFile(join(packaged, 'agents', 'default.yml'), 'utf8'));
  const unit = await readFile(join(packaged, 'ops', 'agent-service.service'), 'utf8');
  const { command, key } = await startUnit(
    unit
      .replaceAll('/opt/agent-service', installed)
      .replaceAll('/etc/agent-service', etc)
      .replaceAll('%S/agent-service', state),
  );
  return {
    command,
    key,
    state,
    async [Symbol.asyncDispose]() {
      await command[Symbol.asyncDispose]();
      await temp[Symbol.asyncDispose]();
    },
  };
}

/** An agent file on a free port, with a variable of the environment file. */
async function configure(etc: string, agent: string): Promise<void> {
  const withVariable = agent.replace('model: offline', 'model: $MODEL');
  await writeFile(join(etc, 'agent.yml'), `${withVariable}server: { port: 0 }\n`);
  await writeFile(join(etc, 'environment'), 'MODEL=offline\n');
}

async function startUnit(unit: string): Promise<Pick<SystemdService, 'command' | 'key'>> {
  const settings = (name: string): string[] =>
    [...unit.matchAll(new RegExp(`^${name}=(.+)$`, 'gm'))].map(([, value = '']) => value);
  const setting = (name: string): string => {
    const [value, ...more] = settings(name);
    if (value === undefined || more.length > 0) throw new Error(`the unit must have one ${name}`);
    return value;
  };
  const [program = '', ...args] = setting('ExecStart').split(' ');
  const variables = await readFile(setting('EnvironmentFile').replace(/^-/, ''), 'utf8');
  const assignments = [...settings('Environment'), ...variables.trim().split('\n')];
  const environment = { PATH, ...Object.fromEntries(assignments.map(splitAssignment)) };
  const options = { cwd: setting('WorkingDirectory'), environment };
  const [main = ''] = args;
  const create = [main, 'keys', 'create', '--name', 'me', '--role', 'admin'];
  await using keys = new CommandGroup(program, create, options);
  const [key] = await keys.printed(/^as_\w+$/m);
  await keys.ended;
  return { command: new CommandGroup(program, args, options), key };
}

function splitAssignment(line: string): [name: string, value: string] {
  const [name = '', ...value] = line.split('=');
  return [name, value.join('=')];
}
