import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../project/source-imports.ts';
import { tempDirectory } from './temp-directory.ts';

const execute = promisify(execFile);

/** What npm needs to reach the registry as the machine is set up for it; nothing of the npm that runs the tests. */
const PASSED_ON =
  /^(PATH|HOME|USER|TMPDIR|NODE_EXTRA_CA_CERTS|(https?|no)_proxy|npm_config_(registry|cache|userconfig|globalconfig))$/i;
const NOT_COPIED = new Set(['node_modules', 'dist', 'coverage', '.git', '.agent-service']);

export const userEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => PASSED_ON.test(name)),
);

export interface InstalledPackage extends AsyncDisposable {
  /** The folder it was installed in, empty before. */
  readonly folder: string;
  /** The file that `npm pack` made. */
  readonly tarball: string;
  /** What npm warned of, without the settings of this machine. */
  readonly warnings: readonly string[];
  /** Paths in the tarball. */
  readonly files: readonly string[];
}

/** Packs the project as `npm pack` does, from a copy, so that its dist/ is left alone; then installs it. */
export async function installPackage(): Promise<InstalledPackage> {
  const temp = await tempDirectory();
  const copy = join(temp.path, 'project');
  const folder = join(temp.path, 'app');
  await mkdir(copy);
  await mkdir(folder);
  for (const name of await readdir(projectRoot)) {
    if (!NOT_COPIED.has(name)) await cp(join(projectRoot, name), join(copy, name), { recursive: true });
  }
  await symlink(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
  await run('npm', ['pack', '--silent', '--pack-destination', temp.path], copy);
  const tarball = (await readdir(temp.path)).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm pack has left no tarball');
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', join(temp.path, tarball)];
  const { stderr } = await execute('npm', install, { cwd: folder, env: userEnvironment });
  const warnings = stderr.split('\n').filter((line) => line !== '' && !line.includes(' user config '));
  const listing = await run('tar', ['tzf', join(temp.path, tarball)], folder);
  const files = listing
    .trim()
    .split('\n')
    .map((file) => file.replace(/^package\//, ''));
  return {
    folder,
    tarball: join(temp.path, tarball),
    files,
    warnings,
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

/** @returns what it prints; rejects with it when it fails. */
export async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await execute(command, args, { cwd, env: userEnvironment });
  return stdout;
}
