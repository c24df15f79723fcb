import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { endTogether } from './end-together.ts';

/** After this time a process that does not stop is killed. */
const STOP_TIMEOUT_MS = 20_000;

export interface StartOptions {
  readonly args?: readonly string[];
  readonly nodeOptions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A server in its own process, so that its CPU time can be measured. */
export class ServerProcess {
  readonly port: number;
  /** From the start of the process to the output line that says where it listens. */
  readonly listenedAfterMs: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number, listenedAfterMs: number) {
    this.#child = child;
    this.port = port;
    this.listenedAfterMs = listenedAfterMs;
  }

  /** Starts `node FILE ARGS…` and waits until it says where it listens. */
  static async start(
    file: string,
    { args = [], nodeOptions = [], env = {} }: StartOptions = {},
  ): Promise<ServerProcess> {
    const begun = performance.now();
    const child = spawn(process.execPath, [...nodeOptions, file, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      // All as in production: Express caches more then.
      env: { ...process.env, NODE_ENV: 'production', ...env },
    });
    endTogether(child);
    for await (const line of createInterface({ input: child.stdout })) {
      const port = /listening on http:\/\/[^ ]+:(\d+)/.exec(line)?.[1];
      if (port !== undefined) return new ServerProcess(child, Number(port), performance.now() - begun);
    }
    throw new Error(`${file} ended before it listened`);
  }

  /** CPU time of the running threads so far, user and system, in milliseconds. NaN on systems other than Linux. */
  cpuMs(): number {
    if (this.#proc('schedstat') === undefined) return Number.NaN;
    // /proc/PID/stat counts in ticks of 10 ms, which is more than a whole turn takes.
    const threads = readdirSync(`/proc/${this.#child.pid}/task`);
    const nanoseconds = threads.map((id) => Number(this.#proc(`task/${id}/schedstat`)?.split(' ')[0] ?? 0));
    return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
  }

  /** Resident memory. NaN on systems other than Linux. */
  rssMb(): number {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(this.#proc('status') ?? '')?.[1];
    return Number(kilobytes) / 1024;
  }

  /**
   * Resident memory once it no longer shrinks. Garbage collection and the return of pages come with a delay.
   * @param looks How often in a row, every 250 ms, it must not be less than before.
   */
  async settledRssMb(looks = 4): Promise<number> {
    let least = this.rssMb();
    for (let unchanged = 0; unchanged < looks; ) {
      await wait(250);
      const now = this.rssMb();
      unchanged = now < least - 0.5 ? 0 : unchanged + 1;
      least = Math.min(least, now);
    }
    return least;
  }

  /** As if the machine failed. */
  async kill(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
  }

  #proc(file: string): string | undefined {
    const path = `/proc/${this.#child.pid}/${file}`;
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  }
}
