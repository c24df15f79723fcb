import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { eventually } from '../project/eventually.ts';

/** A system call as the kernel sees it: it begins, and when it returns it has been done. */
export interface CallMoment {
  readonly moment: 'begun' | 'returned';
  readonly name: string;
  /** Name of the file whose descriptor is the first argument; a socket has its own: `TCP:[…]`. */
  readonly file: string;
  /** All arguments, as strace writes them. */
  readonly arguments: string;
}

const WRITES = ['write', 'writev', 'pwrite64', 'pwritev', 'ftruncate', 'sendto', 'sendmsg'];
const SYNCS = ['fsync', 'fdatasync'];

/** Why no system calls can be seen here; undefined when they can. */
export function whyNoTrace(): string | undefined {
  const { error, status, stderr } = spawnSync('strace', ['-o', '/dev/null', 'true'], { encoding: 'utf8' });
  if (error) return `there is no strace here (${error.message})`;
  return status === 0 ? undefined : `strace may not trace here: ${stderr.trim()}`;
}

/** What to put before a command, so that what it writes and syncs is noted in a file. It keeps its process id. */
export function tracing(file: string): [string, ...string[]] {
  const names = [...WRITES, ...SYNCS].join();
  // As a grandchild (-D) strace ends with the process, also after a kill -9.
  return ['strace', '-D', '-f', '-y', '-s', '64', '-e', `trace=${names}`, '-o', file];
}

/** What was noted of a process that has ended, in the order in which it happened. */
export async function readTrace(file: string, pid: number): Promise<CallMoment[]> {
  const isWhole = new RegExp(`^${pid} +\\+\\+\\+ (exited|killed)`, 'm');
  const text = await eventually(
    () => readFile(file, 'utf8'),
    (noted) => isWhole.test(noted),
  );
  const begun = new Map<string, CallMoment>();
  return text.split('\n').flatMap((line) => momentsOf(line, begun));
}

function momentsOf(line: string, begun: Map<string, CallMoment>): CallMoment[] {
  const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
  if (/^<\.\.\. \w+ resumed>/.test(rest)) {
    const call = begun.get(thread);
    return call ? [{ ...call, moment: 'returned' }] : [];
  }
  const [, name, args] = /^(\w+)\((.*)$/.exec(rest) ?? [];
  if (name === undefined || args === undefined) return [];
  const file = basename(/^\d+<([^>]*)>/.exec(args)?.[1] ?? '');
  const call: CallMoment = { moment: 'begun', name, file, arguments: args };
  if (args.endsWith('<unfinished ...>')) {
    begun.set(thread, call);
    return [call];
  }
  return [call, { ...call, moment: 'returned' }];
}

/** The files between one moment and the next, as a loss of power would find them. */
export interface FilesThen {
  /** The arguments of the call that the moment was known by. */
  readonly mark: string;
  /** Since the moment before. */
  readonly written: string[];
  /** Written, and not synced since: what a loss of power may take. */
  readonly unsynced: string[];
}

/** The files of a folder at each call that `isMark` knows. */
export function filesAt(
  calls: readonly CallMoment[],
  names: readonly string[],
  isMark: (call: CallMoment) => boolean,
): FilesThen[] {
  const unsynced = new Set<string>();
  let written = new Set<string>();
  const moments: FilesThen[] = [];
  for (const call of calls) {
    // What is begun may have left already, and only what has returned is done.
    if (call.moment === 'begun' && isMark(call)) {
      moments.push({ mark: call.arguments, written: [...written].sort(), unsynced: [...unsynced].sort() });
      written = new Set();
    }
    if (!names.includes(call.file)) continue;
    if (call.moment === 'begun' && WRITES.includes(call.name)) {
      written.add(call.file);
      unsynced.add(call.file);
    } else if (call.moment === 'returned' && SYNCS.includes(call.name)) unsynced.delete(call.file);
  }
  return moments;
}
