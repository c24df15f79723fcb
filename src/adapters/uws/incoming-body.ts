import type { HttpResponse as UwsResponse } from 'uWebSockets.js';
import type { Owner } from '../../core/access/session-names.ts';
import { clientLeft, ServiceError } from '../../core/errors.ts';
import { tooLarge } from '../../core/size-limits.ts';
import type { BodyLimit } from '../../ports/web-server.ts';
import type { BodyBudget } from './body-budget.ts';

/** Bodies up to this size are not counted. Nearly all are smaller. */
const SMALL_BYTES = 64 * 1024;
/** How much of an unwanted body is still read. */
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;
/** Longest wait for a client that sends nothing. */
const SILENCE_MS = 1_000;

export interface BodyDeps {
  readonly limit: BodyLimit | false;
  readonly budget: BodyBudget;
}

/** The body of one request: kept up to the size limit, and while the memory budget allows it. Discarded beyond that. */
export class IncomingBody {
  /**
   * The whole body. Rejects with `RATE_LIMIT_EXCEEDED` beyond the size limit and the share of its client, and with
   * `SERVICE_UNAVAILABLE` when all bodies together have the whole budget.
   */
  readonly whole: Promise<Uint8Array>;
  #complete = false;
  #discardedBytes: number | null = null;
  readonly #budget: BodyBudget;
  /** Bytes that are reserved for it. */
  #taken = 0;
  #client: Owner | null = null;
  #onProgress: () => void = () => undefined;
  #onGone: () => void = () => undefined;
  /** Discards what has come, and rejects `whole`. */
  readonly #refuse: (error: ServiceError) => void;

  /** Call it before the handler returns, or uWebSockets.js discards the body. */
  constructor(res: UwsResponse, declaredBytes: number, { limit, budget }: BodyDeps) {
    this.#budget = budget;
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    // If nobody reads the body, nobody handles the rejection.
    promise.catch(() => undefined);
    this.whole = promise;
    const chunks: Uint8Array[] = [];
    let received = 0;
    const refuse = (error: ServiceError): void => {
      chunks.length = 0;
      this.#discardedBytes ??= 0;
      this.release();
      reject(error);
    };
    const check = (bytes: number): void => {
      if (limit !== false && bytes > limit.readBytes) refuse(tooLarge(limit.what, limit.maxBytes));
    };
    this.#refuse = refuse;
    check(declaredBytes);
    res.onData((chunk, isLast) => {
      const { byteLength } = chunk;
      received += byteLength;
      this.#complete = isLast;
      check(received);
      if (this.#discardedBytes === null && received > SMALL_BYTES) {
        const refusal = this.#take(byteLength);
        if (refusal) refuse(refusal);
      }
      if (this.#discardedBytes !== null) this.#discardedBytes += byteLength;
      // Copied, because uWebSockets.js frees the chunk when this callback returns. Short ones share a buffer.
      else chunks.push(Buffer.from(new Uint8Array(chunk)));
      if (isLast) resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
      this.#onProgress();
    });
  }

  /** The whole body, which counts for its client from now on. */
  of(client: Owner): Promise<Uint8Array> {
    const taken = this.#taken;
    this.release();
    this.#client = client;
    const refusal = taken > 0 ? this.#take(taken) : null;
    if (!refusal) return this.whole;
    this.#refuse(refusal);
    const refused = Promise.reject(refusal);
    refused.catch(() => undefined);
    return refused;
  }

  get complete(): boolean {
    return this.#complete;
  }

  /** Call it when the client has gone. Whoever waits for the rest would wait for ever. */
  abandon(): void {
    if (!this.#complete) this.#refuse(clientLeft());
    this.#onGone();
  }

  /** Call it when the request has been answered: its bytes are free again. */
  release(): void {
    if (this.#taken > 0) this.#budget.release(this.#taken, this.#client);
    this.#taken = 0;
  }

  /**
   * Reads and discards the rest of the body. Most clients read the answer only after they have sent everything, so
   * closing the connection earlier would lose the answer. Resolves when the rest has arrived, is too long, stops
   * arriving, or when the client has gone.
   */
  async discardRest(): Promise<void> {
    // What has come is of no use any more, and its bytes are free while the rest comes as slowly as the client likes.
    this.#refuse(answeredEarly());
    const done = Promise.withResolvers<void>();
    const silence = setTimeout(done.resolve, SILENCE_MS);
    this.#onGone = () => done.resolve();
    this.#onProgress = () => {
      silence.refresh();
      if (this.#complete || Number(this.#discardedBytes) > MAX_DISCARDED_BYTES) done.resolve();
    };
    await done.promise;
    clearTimeout(silence);
  }

  /** @returns the refusal; null if the bytes are reserved. */
  #take(bytes: number): ServiceError | null {
    const refusal = this.#budget.reserve(bytes, { client: this.#client, taken: this.#taken });
    if (!refusal) this.#taken += bytes;
    return refusal;
  }
}

/** Nobody reads it. */
function answeredEarly(): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The request was answered before its end.');
}
