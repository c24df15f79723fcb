import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Whether a process runs. One that has ended and waits to be collected by its parent does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0] !== 'Z';
  } catch {
    return false;
  }
}

/** Resolves when the process has ended. The test's own time-out is the bound. */
export async function processEnd(pid: number): Promise<void> {
  while (isRunning(pid)) await delay(5);
}

/** The processes that a process has started and that still run. */
export function childrenOf(pid: number): number[] {
  const text =
    process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      : execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
          .split('\n')
          .filter((line) => line.trim().endsWith(` ${pid}`))
          .map((line) => line.trim().split(' ')[0])
          .join(' ');
  return text.split(' ').filter(Boolean).map(Number);
}

/** Memory that a process takes. */
export function residentBytes(pid: number): number {
  const text =
    process.platform === 'linux'
      ? /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
      : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(text) * 1024;
}
