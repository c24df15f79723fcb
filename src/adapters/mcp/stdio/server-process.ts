import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { settlesWithin } from '../settles-within.ts';
import { describeSpawnFailure } from './spawn-failure.ts';

const POLL_MS = 10;
const windows = process.platform === 'win32';

export interface ProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * A server's process and all it starts. It leads a process group of its own: a launcher such as `npx`
 * leaves grandchildren behind that only a signal to the group reaches.
 */
export class ServerProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Resolves when the process runs; rejects with a reason for people. */
  readonly spawned: Promise<void>;
  /** Resolves when the first process is gone; never for one that was not spawned. */
  readonly exited: Promise<void>;
  /** Resolves when it is gone and its output was read to the end. Grandchildren may hold the output open. */
  readonly drained: Promise<void>;

  constructor(options: ProcessOptions) {
    const { command, args, cwd, environment } = options;
    this.#child = spawn(command, args, {
      cwd,
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      // Windows has no groups, and opens a console window for a detached process.
      detached: !windows,
      windowsHide: true,
    });
    const { promise: exited, resolve: noteExit } = Promise.withResolvers<void>();
    const { promise: drained, resolve: noteDrained } = Promise.withResolvers<void>();
    this.exited = exited;
    this.drained = drained;
    // Told by the rejection of `spawned`, and for a stream by its `close`.
    for (const emitter of [this.#child, ...this.#child.stdio]) emitter?.on('error', () => undefined);
    this.#child.once('exit', () => noteExit());
    this.#child.once('close', () => noteDrained());
    this.spawned = once(this.#child, 'spawn').then(
      () => undefined,
      (error: unknown) => Promise.reject(new Error(describeSpawnFailure(error, options), { cause: error })),
    );
  }

  get stdin(): Writable {
    return this.#child.stdin;
  }

  get stdout(): Readable {
    return this.#child.stdout;
  }

  get stderr(): Readable {
    return this.#child.stderr;
  }

  /** How it ended; undefined while it runs. */
  get exit(): string | undefined {
    const { exitCode, signalCode } = this.#child;
    if (signalCode !== null) return `the server was ended by ${signalCode}`;
    return exitCode === null ? undefined : `the server exited with code ${exitCode}`;
  }

  /** Asks politely by closing stdin, then with SIGTERM, then leaves no choice. Never rejects. */
  async end(graceMs: number): Promise<void> {
    if (this.#child.pid === undefined) return;
    this.stdin.end();
    await settlesWithin(this.exited, graceMs);
    if (this.#signalGroup('SIGTERM') && !(await this.#groupGoneWithin(graceMs))) {
      this.#signalGroup('SIGKILL');
      if (windows) await endTree(this.#child.pid);
      await settlesWithin(this.exited, graceMs);
    }
    await settlesWithin(this.drained, graceMs);
    // A process that left the group may still hold the pipes; it must not hold this service.
    this.stdin.destroy();
    this.stdout.destroy();
    this.stderr.destroy();
  }

  async #groupGoneWithin(limitMs: number): Promise<boolean> {
    const deadline = performance.now() + limitMs;
    while (this.#signalGroup(0)) {
      if (performance.now() > deadline) return false;
      await delay(POLL_MS);
    }
    await this.exited;
    return true;
  }

  /** False when nobody is left to receive it. */
  #signalGroup(signal: NodeJS.Signals | 0): boolean {
    const { pid } = this.#child;
    if (pid === undefined) return false;
    if (windows) return this.exit === undefined && this.#child.kill(signal);
    try {
      return process.kill(-pid, signal);
    } catch {
      // ESRCH: the group is empty. EPERM: only processes of another user, or dead ones, are left.
      return false;
    }
  }
}

function endTree(pid: number): Promise<void> {
  // It fails when the process is gone by then, which is what was wanted.
  return new Promise((resolve) => {
    execFile('taskkill', ['/pid', String(pid), '/T', '/F'], () => resolve());
  });
}
