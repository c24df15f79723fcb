import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npmCi } from './npm-ci.ts';
import { thisCheckout, type Version } from './version.ts';

const { root } = thisCheckout;

/** The named commit does not exist, or this is not a checkout of git. */
export class UnknownRef extends Error {}

/** Another version of the service, in a worktree of its own until it is removed or this process ends. */
export interface CheckedOut extends Version {
  readonly ref: string;
  readonly remove: () => void;
}

/**
 * Checks out a commit into a folder for temporary files, and gives it packages: those of this checkout, or its own if
 * its lock file is another one.
 * @throws UnknownRef
 */
export async function checkOut(ref: string): Promise<CheckedOut> {
  const commit = commitOf(ref);
  const parent = mkdtempSync(join(realpathSync(tmpdir()), 'agent-service-bench-'));
  const folder = join(parent, 'agent-service');
  const remove = (): void => {
    process.off('exit', remove);
    if (existsSync(folder)) git('worktree', 'remove', '--force', folder);
    rmSync(parent, { recursive: true, force: true });
  };
  // Ctrl-C ends the process, too.
  process.once('exit', remove);
  try {
    git('worktree', 'add', '--quiet', '--detach', folder, commit);
    if (lockFile(folder) === lockFile(root))
      symlinkSync(realpathSync(join(root, 'node_modules')), join(folder, 'node_modules'));
    else await npmCi(folder);
  } catch (error) {
    remove();
    throw error;
  }
  return { root: `${folder}/`, ref, remove };
}

function commitOf(ref: string): string {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`);
  } catch (error) {
    throw new UnknownRef(
      `there is no commit ${ref} in ${root}; --against takes a commit, a tag or a branch of this repository`,
      { cause: error },
    );
  }
}

function lockFile(folder: string): string {
  return readFileSync(join(folder, 'package-lock.json'), 'utf8');
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}
