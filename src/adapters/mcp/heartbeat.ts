import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';

/** Errors may come in floods; what they make us ask must not. */
const MIN_GAP_MS = 500;
const TOO_MANY_REQUESTS = 429;

export interface HeartbeatOptions {
  readonly intervalMs: number;
  readonly ping: () => Promise<unknown>;
  /** True while the server works on a call, and so may be too busy to answer a ping. */
  readonly isBusy: () => boolean;
  /** Called at most once, with what the ping failed with. */
  readonly onDead: (error: unknown) => void;
}

/** Notices that a server behind HTTP has gone, which no connection tells: asks now and then. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #timer: NodeJS.Timeout | undefined;
  #asking = false;
  #stopped = false;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#schedule(options.intervalMs);
  }

  /** Something failed: asks at once. */
  suspect(): void {
    if (this.#asking) return;
    this.#schedule(Math.max(0, this.#askedAt + MIN_GAP_MS - performance.now()));
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#ask(), delayMs).unref();
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    const error = await this.#options.ping().then(
      () => undefined,
      (reason: unknown) => reason ?? new Error('the ping failed'),
    );
    this.#asking = false;
    this.#askedAt = performance.now();
    if (this.#stopped) return;
    if (error === undefined || !this.#provesDeath(error)) return this.#schedule(this.#options.intervalMs);
    this.stop();
    this.#options.onDead(error);
  }

  #provesDeath(error: unknown): boolean {
    // An answer that says no is an answer.
    if (error instanceof StreamableHTTPError) return error.code !== TOO_MANY_REQUESTS;
    if (!(error instanceof McpError)) return true;
    return error.code === ErrorCode.RequestTimeout && !this.#options.isBusy();
  }
}
