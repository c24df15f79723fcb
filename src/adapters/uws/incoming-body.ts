import type { HttpResponse as UwsResponse } from 'uWebSockets.js';
import { tooLarge } from '../../core/limit-errors.ts';

/** Most of an unwanted rest that is still read. */
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;
/** How long a client that has fallen silent is waited for. */
const SILENCE_MS = 1_000;

/** The body of one request: kept up to the limit, and thrown away where nobody wants it. */
export class IncomingBody {
  /** All of it. Rejects with `RATE_LIMIT_EXCEEDED` beyond the limit on size. */
  readonly whole: Promise<Uint8Array>;
  #complete = false;
  #discardedBytes: number | null = null;
  #onProgress: () => void = () => undefined;
  #onGone: () => void = () => undefined;

  /** To be made before the handler returns: what is not gathered then is lost. */
  constructor(res: UwsResponse, declaredBytes: number, maxBytes: number | false) {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    // Nobody may ask for the body: a refusal then is nobody's concern.
    promise.catch(() => undefined);
    this.whole = promise;
    const chunks: Uint8Array[] = [];
    let received = 0;
    const refuse = (): void => {
      chunks.length = 0;
      this.#discardedBytes ??= 0;
      reject(tooLarge('a request', Number(maxBytes)));
    };
    const exceeds = (bytes: number): boolean => maxBytes !== false && bytes > maxBytes;
    if (exceeds(declaredBytes)) refuse();
    res.onData((chunk, isLast) => {
      received += chunk.byteLength;
      this.#complete = isLast;
      if (exceeds(received)) refuse();
      if (this.#discardedBytes !== null) this.#discardedBytes += chunk.byteLength;
      // uWebSockets.js frees the chunk when this returns.
      else chunks.push(new Uint8Array(chunk.slice(0)));
      if (isLast) resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
      this.#onProgress();
    });
  }

  get complete(): boolean {
    return this.#complete;
  }

  /** The client has gone: nothing more will come. */
  abandon(): void {
    this.#onGone();
  }

  /**
   * Reads the rest and forgets it: most clients look at the answer only when they have sent everything, and
   * a connection that is closed before that takes the answer with it. Resolves when the rest has come, when
   * it is too much of it, when the client falls silent, or when it has gone.
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
