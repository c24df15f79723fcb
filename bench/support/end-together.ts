import type { ChildProcess } from 'node:child_process';

/** However this process ends, the child does not stay behind. It ends before folders are removed that it writes to. */
export function endTogether(child: ChildProcess): void {
  const kill = (): void => void child.kill('SIGKILL');
  process.prependOnceListener('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}
