import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { findPackageRoot } from '../../../src/app/package-root.ts';
import { DEFAULT_DATA_DIR } from '../../../src/config/settings.ts';
import { tracing } from '../log/system-calls.ts';
import { testStore } from '../postgres/test-store.ts';

const root = findPackageRoot();
const COMMAND = process.env.TEST_COMMAND ?? 'bin/agent-service.js';

export interface ProcessOptions {
  /** Working directory; the package's root when left out. */
  readonly cwd?: string;
  readonly environment?: Record<string, string>;
  /**
   * Relative to the package's root. Left out, it is the command: the build if it is of these sources, which starts sooner;
   * see `made-once.ts`.
   */
  readonly script?: string;
  /** Flags of Node itself. */
  readonly nodeFlags?: readonly string[];
  /** A file in which its writes and syncs are noted, to be read with `readTrace`. */
  readonly trace?: string;
}

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The service as a process of its own, as `npm start` runs it; killed at the latest by `await using`. */
export class ServiceProcess implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #output = { stdout: '', stderr: '' };
  /** Resolves when it has ended and all it wrote was read. */
  readonly ended: Promise<Ending>;

  constructor(args: readonly string[], options: ProcessOptions = {}) {
    const { cwd = root, environment, script = COMMAND, nodeFlags = [], trace } = options;
    // Without the environment of the test runner, whose NODE_OPTIONS could change what is tested.
    const store = storeOf(args, cwd);
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...(store !== undefined && { AGENT_SERVICE_STORE: store }),
      ...environment,
    };
    const before = trace === undefined ? [] : tracing(trace);
    const typed = store === undefined ? args : withStore(args, store);
    const [command = '', ...rest] = [...before, process.execPath, ...nodeFlags, join(root, script), ...typed];
    this.#child = spawn(command, rest, { cwd, env, stdio: 'pipe' });
    for (const name of ['stdout', 'stderr'] as const) {
      this.#child[name].setEncoding('utf8').on('data', (text: string) => {
        this.#output[name] += text;
      });
    }
    this.ended = once(this.#child, 'close').then(() => ({
      code: this.#child.exitCode,
      signal: this.#child.signalCode,
      ...this.#output,
    }));
  }

  /** Starts it on a free port and waits until it listens. */
  static async listening(args: readonly string[], options?: ProcessOptions): Promise<ListeningService> {
    const service = new ServiceProcess(['--web-port', '0', ...args], options);
    const match = await service.stdout(/listening on http:\/\/127\.0\.0\.1:(\d+)\n/);
    return new ListeningService(service, Number(match[1]));
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the process was not started');
    return this.#child.pid;
  }

  get stdin(): Writable {
    return this.#child.stdin;
  }

  /** What it has printed, as soon as it matches; rejects when it ends before. */
  stdout(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#printed('stdout', pattern);
  }

  stderr(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#printed('stderr', pattern);
  }

  /** Reads no more of what it prints. */
  closeStdout(): void {
    this.#child.stdout.destroy();
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  async #printed(name: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray> {
    const ended = this.ended.then((ending) => {
      throw new Error(`the process ended: ${JSON.stringify(ending)}`);
    });
    // It may end long after the match was found.
    ended.catch(() => undefined);
    for (;;) {
      const match = pattern.exec(this.#output[name]);
      if (match) return match;
      await Promise.race([once(this.#child[name], 'data'), ended]);
    }
  }
}

function storeOf(args: readonly string[], cwd: string): string | undefined {
  const named = args[args.indexOf('--data-dir') + 1];
  const dataDir = args.includes('--data-dir') && named !== undefined ? named : DEFAULT_DATA_DIR;
  return testStore(dataDir === ':memory:' ? randomUUID() : resolve(cwd, dataDir));
}

/** Where a command has a folder, the database stands in its place, because a typed folder wins over a variable. */
function withStore(args: readonly string[], store: string): readonly string[] {
  const place = args.indexOf('--data-dir');
  const isCommand = args[0]?.startsWith('-') === false;
  return isCommand && place !== -1 ? args.toSpliced(place, 2, '--store', store) : args;
}

/** One that listens. */
export class ListeningService implements AsyncDisposable {
  readonly process: ServiceProcess;
  readonly port: number;

  constructor(process: ServiceProcess, port: number) {
    this.process = process;
    this.port = port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  fetch(path: string, init?: RequestInit): Promise<Response> {
    return fetch(`${this.url}${path}`, init);
  }

  post(path: string, body: unknown, more: Record<string, string> = {}): Promise<Response> {
    const headers = { 'Content-Type': 'application/json', ...more };
    return this.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.process[Symbol.asyncDispose]();
  }
}
