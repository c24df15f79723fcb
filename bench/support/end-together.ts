import type { ChildProcess } from 'node:child_process';

/** One listener for all of them, because Node warns of more than ten. */
const children = new Set<ChildProcess>();

/** Kills the child when this process exits, before other exit listeners remove the folders that it writes to. */
export function endTogether(child: ChildProcess): void {
  if (children.size === 0) process.prependListener('exit', killAll);
  children.add(child);
  child.once('exit', () => {
    children.delete(child);
    if (children.size === 0) process.off('exit', killAll);
  });
}

function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
}
