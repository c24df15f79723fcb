import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { freePort } from '../service/running-service.ts';

/** Not in the PATH of every user. */
const DEBIAN_PROGRAM = '/usr/sbin/nats-server';

/** The program; undefined if there is none. */
export function findNatsServer(): string | undefined {
  if (existsSync(DEBIAN_PROGRAM)) return DEBIAN_PROGRAM;
  return spawnSync('nats-server', ['--version']).status === 0 ? 'nats-server' : undefined;
}

/** A NATS server of its own. It goes away with `await using`. */
export class NatsServer implements AsyncDisposable {
  readonly port: number;
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(port: number, settings: readonly string[]) {
    this.port = port;
    this.#settings = settings;
  }

  /** @param settings further arguments, such as `--user`. */
  static async start(...settings: string[]): Promise<NatsServer> {
    const server = new NatsServer(await freePort(), settings);
    await server.run();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Starts it again. Resolves when it can be reached. */
  async run(): Promise<void> {
    const program = findNatsServer();
    if (program === undefined)
      throw new Error('the tests need nats-server: npm test installs it on Debian as root');
    const child = spawn(program, ['-a', '127.0.0.1', '-p', String(this.port), ...this.#settings], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process = child;
    let said = '';
    // A server whose log nobody reads any more ends at its next line.
    const lines = child.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false });
    for await (const text of lines) {
      said += text;
      if (said.includes('Server is ready')) break;
    }
    if (!said.includes('Server is ready')) throw new Error(`NATS did not start: ${said}`);
    child.stderr.resume();
  }

  /** The process, to be paused. */
  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error('NATS does not run');
    return pid;
  }

  /** Ends it at once. */
  async end(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}
