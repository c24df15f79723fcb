import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { tracing } from '../log/system-calls.ts';

export interface SupportProcess extends AsyncDisposable {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  /** What it prints, line by line; ends when it has. */
  readonly lines: AsyncIterator<string>;
  /** Resolves when it is gone and all it wrote to stderr was read: to that text. */
  readonly ended: Promise<string>;
}

/** Starts a file of this folder as a process of its own, killed at the latest by `await using`. */
export function startSupportProcess(file: string, args: readonly string[]): SupportProcess {
  return startProcess(process.execPath, [scriptOf(file), ...args]);
}

/** The same for a process that cannot write a file of more than about so many bytes. */
export function startLimitedProcess(file: string, args: readonly string[], bytes: number): SupportProcess {
  // The unit is 512 or 1024 bytes, as the shell likes.
  const command = `ulimit -f ${Math.ceil(bytes / 1024)} && exec "$0" "$@"`;
  return startProcess('/bin/sh', ['-c', command, process.execPath, scriptOf(file), ...args]);
}

/** The same for a process whose writes and syncs are noted in a file, to be read with `readTrace`. */
export function startTracedProcess(file: string, args: readonly string[], trace: string): SupportProcess {
  const [command, ...before] = tracing(trace);
  return startProcess(command, [...before, process.execPath, scriptOf(file), ...args]);
}

function scriptOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

function startProcess(command: string, args: readonly string[]): SupportProcess {
  // Without the environment of the test runner, whose NODE_OPTIONS could change what is tested.
  const env = { PATH: process.env.PATH };
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = once(child, 'close').then(() => errors);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    lines,
    ended,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      child.stdout.resume();
      await ended;
    },
  };
}
