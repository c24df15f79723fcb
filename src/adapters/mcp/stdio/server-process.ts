import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { settlesWithin } from '../../../timing/deadline.ts';
import type { RunningServers } from './running-servers.ts';

const POLL_MS = 10;
const windows = process.platform === 'win32';

export interface ProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly running: RunningServers;
}

/**
 * A server's process and its descendants. The process leads a group of its own: a launcher such as `npx` leaves
 * grandchildren behind that only a signal to the group reaches.
 */
export class ServerProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #running: RunningServers;
  /** Resolves when the process runs. Rejects with a message for people. */
  readonly spawned: Promise<void>;
  /** Resolves when the process has exited, without its descendants. Never resolves if it was not spawned. */
  readonly exited: Promise<void>;
  /** Resolves when the process has exited and its output has ended. Grandchildren may hold the output open. */
  readonly drained: Promise<void>;

  constructor(options: ProcessOptions) {
    const { command, args, cwd, environment, running } = options;
    this.#running = running;
    this.#child = spawn(command, args, {
      cwd,
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      // Windows has no groups, and opens a console window for a detached process.
      detached: !windows,
      windowsHide: true,
    });
    if (this.#child.pid !== undefined) running.add(this);
    const { promise: exited, resolve: noteExit } = Promise.withResolvers<void>();
    const { promise: drained, resolve: noteDrained } = Promise.withResolvers<void>();
    this.exited = exited;
    this.drained = drained;
    // Without a listener an error would end the service. `spawned` rejects with it, or the stream closes.
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

  /** How the process ended; undefined while it runs. */
  get exit(): string | undefined {
    const { exitCode, signalCode } = this.#child;
    if (signalCode !== null) return `the server was ended by ${signalCode}`;
    return exitCode === null ? undefined : `the server exited with code ${exitCode}`;
  }

  /** Closes stdin, waits, sends SIGTERM, waits, and sends SIGKILL. Each wait is `graceMs` at most. Never rejects. */
  async end(graceMs: number): Promise<void> {
    if (this.#child.pid === undefined) return;
    this.stdin.end();
    await settlesWithin(graceMs, this.exited);
    if (this.#signalGroup('SIGTERM') && !(await this.#groupGoneWithin(graceMs))) {
      this.#signalGroup('SIGKILL');
      if (windows) await endTree(this.#child.pid);
      await settlesWithin(graceMs, this.exited);
    }
    this.#running.delete(this);
    await settlesWithin(graceMs, this.drained);
    // A process that left the group may still hold the pipes, which would keep the service running.
    this.stdin.destroy();
    this.stdout.destroy();
    this.stderr.destroy();
  }

  /** Ends the process and its descendants at once. */
  kill(): void {
    this.#signalGroup('SIGKILL');
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

  /** Returns false when no process is left to receive the signal. */
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

/** For Windows, which has no process groups. */
function endTree(pid: number): Promise<void> {
  // The command fails when the process has gone meanwhile; the result is the same.
  return new Promise((resolve) => {
    execFile('taskkill', ['/pid', String(pid), '/T', '/F'], () => resolve());
  });
}

/** Why a command could not be started, for the person who wrote it into the configuration. */
function describeSpawnFailure(error: unknown, { command, cwd }: ProcessOptions): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
      // The system gives the same code for a missing folder.
      return cwd !== undefined && !existsSync(cwd)
        ? `the folder '${cwd}' (cwd) does not exist`
        : `command '${command}' was not found${windowsHint(command)}`;
    case 'EACCES':
      return `command '${command}' may not be executed`;
    default:
      return `command '${command}' could not be started${typeof code === 'string' ? ` (${code})` : ''}`;
  }
}

function windowsHint(command: string): string {
  return windows ? `; for a script such as npx use the command 'cmd' with the arguments /c ${command}` : '';
}
