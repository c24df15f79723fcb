import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

export interface CommandOptions {
  readonly cwd: string;
  /** All of it. */
  readonly environment: NodeJS.ProcessEnv;
}

/** A command in a process group of its own, because ending npx does not end what it started. */
export class CommandGroup implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  /** Resolves to its exit code, null after a signal. */
  readonly ended: Promise<number | null>;
  #output = '';

  constructor(command: string, args: readonly string[], { cwd, environment }: CommandOptions) {
    const options = { cwd, env: environment, detached: true };
    this.#child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    this.ended = once(this.#child, 'close').then(() => this.#child.exitCode);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
  }

  /** What it has printed, as soon as it matches; rejects when it ends before. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#output);
      if (match) return match;
      if (this.#child.exitCode !== null) throw new Error(`it ended: ${this.#output}`);
      await Promise.race([once(this.#child.stdout, 'data'), once(this.#child.stderr, 'data'), this.ended]);
    }
  }

  /** To the command alone, not to what it started. */
  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.pid !== undefined)
      process.kill(-this.#child.pid, 'SIGKILL');
    await this.ended;
  }
}
