import type { HttpResponse as UwsResponse } from 'uWebSockets.js';
import { tooLarge } from '../../core/size-limits.ts';
import type { BodyLimit } from '../../ports/web-server.ts';

/** How much of an unwanted body is still read. */
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;
/** Longest wait for a client that sends nothing. */
const SILENCE_MS = 1_000;

/** The body of one request: kept up to the size limit, discarded beyond it. */
export class IncomingBody {
  /** The whole body. Rejects with `RATE_LIMIT_EXCEEDED` beyond the size limit. */
  readonly whole: Promise<Uint8Array>;
  #complete = false;
  #discardedBytes: number | null = null;
  #onProgress: () => void = () => undefined;
  #onGone: () => void = () => undefined;

  /** Call it before the handler returns, or uWebSockets.js discards the body. */
  constructor(res: UwsResponse, declaredBytes: number, limit: BodyLimit | false) {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    // If nobody reads the body, nobody handles the rejection.
    promise.catch(() => undefined);
    this.whole = promise;
    const chunks: Uint8Array[] = [];
    let received = 0;
    const refuse = (): void => {
      chunks.length = 0;
      this.#discardedBytes ??= 0;
      if (limit !== false) reject(tooLarge(limit.what, limit.maxBytes));
    };
    const exceeds = (bytes: number): boolean => limit !== false && bytes > limit.readBytes;
    if (exceeds(declaredBytes)) refuse();
    res.onData((chunk, isLast) => {
      received += chunk.byteLength;
      this.#complete = isLast;
      if (exceeds(received)) refuse();
      if (this.#discardedBytes !== null) this.#discardedBytes += chunk.byteLength;
      // Copied, because uWebSockets.js frees the chunk when this callback returns.
      else chunks.push(new Uint8Array(chunk.slice(0)));
      if (isLast) resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
      this.#onProgress();
    });
  }

  get complete(): boolean {
    return this.#complete;
  }

  /** Call it when the client has gone. */
  abandon(): void {
    this.#onGone();
  }

  /**
   * Reads and discards the rest of the body. Most clients read the answer only after they have sent everything, so
   * closing the connection earlier would lose the answer. Resolves when the rest has arrived, is too long, stops
   * arriving, or when the client has gone.
   */
  async discardRest(): Promise<void> {
    this.#discardedBytes ??= 0;
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
}
