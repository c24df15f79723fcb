import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../service/running-service.ts';
import { ServiceProcess } from '../service/service-process.ts';

/** When a life is to end. */
export type Death =
  | { readonly after: 'start'; readonly ms: number }
  | { readonly after: 'listening'; readonly ms: number }
  | { readonly after: 'frames'; readonly count: number };

/** What all lives have in common. */
interface LifeOptions {
  readonly environment?: Record<string, string>;
  /** More arguments of the command line. */
  readonly args?: readonly string[];
}

/** A service that is killed and started again on the same data directory and port. */
export class KilledService implements AsyncDisposable {
  readonly #folder: string;
  readonly #scripts: readonly string[];
  readonly #environment: Record<string, string>;
  readonly #args: readonly string[];
  #lives = 0;
  readonly port: number;
  readonly #signals = new EventEmitter();
  #process: ServiceProcess | null = null;
  #listening = Promise.withResolvers<void>();
  #isListening = false;
  #frames = 0;

  private constructor(
    folder: string,
    scripts: readonly string[],
    { port, environment = {}, args = [] }: LifeOptions & { readonly port: number },
  ) {
    this.#folder = folder;
    this.#scripts = scripts;
    this.#environment = environment;
    this.#args = args;
    this.port = port;
  }

  /**
   * @param folder with an `agent.yml`.
   * @param scripts of which each life runs the next, for `ProcessOptions`.
   */
  static async create(
    folder: string,
    scripts: readonly string[],
    options: LifeOptions = {},
  ): Promise<KilledService> {
    return new KilledService(folder, scripts, { port: await freePort(), ...options });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  fetch(path: string, init?: RequestInit): Promise<Response> {
    return fetch(`${this.url}${path}`, init);
  }

  /** Resolves when it listens, at once when it does. */
  listening(): Promise<void> {
    return this.#listening.promise;
  }

  /** To be called for each frame that a client gets: lives are measured in them. */
  noteFrame(): void {
    this.#frames += 1;
    this.#signals.emit('frame');
  }

  /** Begins a life, which the caller does not end. */
  async start(): Promise<void> {
    const process = this.#spawn();
    await process.stdout(/listening on http/);
    this.#isListening = true;
    this.#listening.resolve();
  }

  /** One life, from its start to its `kill -9`. */
  async live(death: Death): Promise<void> {
    this.#frames = 0;
    if (death.after === 'start') this.#spawn();
    else await this.start();
    await Promise.race([this.#moment(death), this.#process?.ended]);
    await this.kill();
  }

  /** Ends a life with `kill -9`. Who finds the connection broken waits for the next one. */
  async kill(): Promise<void> {
    if (this.#isListening) this.#listening = Promise.withResolvers();
    this.#isListening = false;
    this.#process?.kill('SIGKILL');
    const ending = await this.#process?.ended;
    if (ending?.signal !== 'SIGKILL')
      throw new Error(`the service ended by itself: ${JSON.stringify(ending)}`);
  }

  /** Does this again in the next life when a kill has cut it off. Other errors are thrown. */
  async throughKills<T>(use: () => Promise<T>): Promise<T> {
    for (;;) {
      const life = this.listening();
      await life;
      try {
        return await use();
      } catch (error) {
        if (this.listening() === life) throw error;
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.[Symbol.asyncDispose]();
  }

  async #moment(death: Death): Promise<void> {
    if (death.after !== 'frames') await delay(death.ms);
    else while (this.#frames < death.count) await once(this.#signals, 'frame');
  }

  #spawn(): ServiceProcess {
    const where = ['--web-port', String(this.port), '--agent', 'agent.yml', '--data-dir', 'data'];
    const args = [...where, ...this.#args];
    const script = this.#scripts[this.#lives % this.#scripts.length];
    this.#lives += 1;
    const options = { cwd: this.#folder, environment: this.#environment };
    const process = new ServiceProcess(args, { ...options, ...(script !== undefined && { script }) });
    this.#process = process;
    return process;
  }
}
