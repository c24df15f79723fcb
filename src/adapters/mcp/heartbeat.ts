import { JsonRpcError } from '../../core/json-rpc.ts';
import { HttpStatusError } from './http/http-status-error.ts';
import { RequestTimeoutError } from './peer/rpc-errors.ts';

/** Shortest time between two pings. Errors may come in floods; pings must not. */
const MIN_GAP_MS = 500;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

export interface HeartbeatOptions {
  readonly intervalMs: number;
  readonly ping: () => Promise<unknown>;
  /** True while the server works on a call, and so may be too busy to answer a ping. */
  readonly isBusy: () => boolean;
  /** Called at most once, with the error of the ping. */
  readonly onDead: (error: unknown) => void;
}

/** Pings a server behind HTTP, where no connection closes when the server has gone. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #timer: NodeJS.Timeout | undefined;
  #pinging = false;
  #stopped = false;
  #pingedAt = Number.NEGATIVE_INFINITY;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#schedule(options.intervalMs);
  }

  /** Pings as soon as the minimum gap allows. Call it when something failed. */
  suspect(): void {
    if (this.#pinging) return;
    this.#schedule(Math.max(0, this.#pingedAt + MIN_GAP_MS - performance.now()));
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#ping(), delayMs).unref();
  }

  async #ping(): Promise<void> {
    this.#pinging = true;
    const error = await this.#options.ping().then(
      () => undefined,
      (reason: unknown) => reason ?? new Error('the ping failed'),
    );
    this.#pinging = false;
    this.#pingedAt = performance.now();
    if (this.#stopped) return;
    if (error === undefined || !this.#provesDeath(error)) return this.#schedule(this.#options.intervalMs);
    this.stop();
    this.#options.onDead(error);
  }

  #provesDeath(error: unknown): boolean {
    if (error instanceof HttpStatusError) return this.#statusProvesDeath(error.status);
    if (error instanceof RequestTimeoutError) return !this.#options.isBusy();
    // An answer, even if the server does not know `ping`.
    return !(error instanceof JsonRpcError);
  }

  #statusProvesDeath(status: number): boolean {
    // A server that answers "too many requests" is alive.
    if (status === TOO_MANY_REQUESTS) return false;
    // What stands before the server may fail for a moment, while the calls go on in their streams.
    return status < SERVER_ERROR || !this.#options.isBusy();
  }
}
