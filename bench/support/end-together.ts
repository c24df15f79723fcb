import type { ChildProcess } from 'node:child_process';

/** Kills the child when this process exits, before other exit listeners remove the folders that it writes to. */
export function endTogether(child: ChildProcess): void {
  const kill = (): void => void child.kill('SIGKILL');
  process.prependOnceListener('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}
