import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const CLOCK_TICKS_PER_SECOND = 100;

/** A server in a process of its own, so that its CPU time is its own. */
export class ServerProcess {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  /** Starts `node FILE ARGS…` and waits until it says where it listens. */
  static async start(file: string, args: readonly string[] = []): Promise<ServerProcess> {
    const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: child.stdout })) {
      const port = /listening on http:\/\/[^ ]+:(\d+)/.exec(line)?.[1];
      if (port !== undefined) return new ServerProcess(child, Number(port));
    }
    throw new Error(`${file} ended before it listened`);
  }

  /** CPU time so far, user and system, in milliseconds. Linux only: elsewhere NaN. */
  cpuMs(): number {
    if (process.platform !== 'linux') return Number.NaN;
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return ((Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND) * 1_000;
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }
}
