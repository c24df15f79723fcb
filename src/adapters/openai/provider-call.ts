import type { Readable } from 'node:stream';
import { type HttpPost, post } from './http-post.ts';
import { SilenceWatch } from './silence-watch.ts';

/** Enough to quote an error code from, and no more of a body that may have no end. */
const MAX_ERROR_BODY_CHARACTERS = 64 * 1024;

/** One for all: a reason made anew is an error with its stack, and nobody reads it. */
const OVER = new DOMException('the model call is over', 'AbortError');

/**
 * One model call on the wire, with its retries: whatever ends it (the caller's signal, silence, `end`)
 * ends the request too.
 */
export class ProviderCall {
  readonly #abort = new AbortController();
  readonly #callerSignal: AbortSignal;
  readonly #timeoutMs: number;
  readonly #watch: SilenceWatch;
  readonly #onCallerAbort = (): void => this.#abort.abort(OVER);
  /** The body of the attempt that succeeded. */
  #body: Readable | undefined;
  #wasSilent = false;
  /** Once the reply is complete. */
  #end: NodeJS.Timeout | undefined;

  constructor(callerSignal: AbortSignal, timeoutMs: number) {
    this.#callerSignal = callerSignal;
    this.#timeoutMs = timeoutMs;
    this.#watch = new SilenceWatch(() => {
      this.#wasSilent = true;
      this.#abort.abort(OVER);
    });
    callerSignal.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** For the SDK, which hands it on to its `fetch`: so one client serves all calls, and making one costs more than a call. */
  get fetchOptions(): { readonly redirect: 'manual'; readonly call: ProviderCall } {
    return { redirect: 'manual', call: this };
  }

  get wasSilent(): boolean {
    return this.#wasSilent;
  }

  /** The provider gave a sign of life. */
  heard(): void {
    this.#watch.heard();
  }

  /** The reply is complete; the rest of the stream may take this long and no longer, whatever else is sent. */
  expectEnd(withinMs: number): void {
    if (this.#end) return;
    this.#watch.stop();
    this.#end = setTimeout(() => this.#abort.abort(OVER), withinMs);
  }

  /**
   * One attempt, for the SDK to repeat. The watch rests between attempts: a wait that the provider asked for
   * is no silence. That is why the body of an error is read here, while the watch still runs.
   */
  async attempt(url: URL, init: RequestInit): Promise<Response> {
    this.#watch.start(this.#timeoutMs);
    try {
      const response = await post(url, posted(init));
      this.#watch.heard();
      if (response.ok) {
        this.#body = response.stream;
        return response;
      }
      const { status, headers } = response;
      const body = await readAtMost(response.stream, MAX_ERROR_BODY_CHARACTERS, () => this.heard());
      this.#watch.stop();
      // Statuses such as 304 may have no body at all, not even an empty one.
      return new Response(body || null, { status, headers });
    } catch (error) {
      this.#watch.stop();
      throw error;
    }
  }

  /** Leaves neither request nor timer nor listener behind. */
  end(): void {
    this.#watch.stop();
    clearTimeout(this.#end);
    this.#callerSignal.removeEventListener('abort', this.#onCallerAbort);
    if (!this.#body?.readableEnded) this.#abort.abort(OVER);
  }
}

/** The `fetch` of the client: an attempt of the call that is in the request's `fetchOptions`. */
export const fetchOfCall: typeof fetch = async (input, init) => {
  if (!init || !('call' in init && init.call instanceof ProviderCall))
    throw new TypeError('the SDK made a request that belongs to no call');
  return init.call.attempt(new URL(String(input)), init);
};

/** What the SDK means by a `fetch`: always a POST of JSON. */
function posted({ headers, body, signal }: RequestInit): HttpPost {
  if (typeof body !== 'string') throw new TypeError('the body of a model call must be text');
  return {
    headers: headers instanceof Headers ? headers : new Headers(headers),
    body,
    signal: signal ?? undefined,
  };
}

async function readAtMost(stream: Readable, maxCharacters: number, heard: () => void): Promise<string> {
  let text = '';
  stream.setEncoding('utf8');
  for await (const piece of stream) {
    heard();
    text += piece;
    if (text.length >= maxCharacters) break;
  }
  return text;
}
