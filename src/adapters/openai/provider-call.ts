import type { Readable } from 'node:stream';
import { type TraceContext, traceFields } from '../../contract/trace.ts';
import { type HttpAnswer, type HttpPost, post } from './http-post.ts';
import { SilenceWatch } from './silence-watch.ts';

/** Enough to quote an error code from, and no more of a body that may have no end. */
const MAX_ERROR_BODY_CHARACTERS = 64 * 1024;

/** One for all: a reason made anew is an error with its stack, and nobody reads it. */
const OVER = new DOMException('the model call is over', 'AbortError');

/** For the SDK, which asks of a success no more than whether it is one; a `Response` costs. */
const SUCCESS = new Response(null);

/**
 * One model call on the wire, with its retries: whatever ends it (the caller's signal, silence, `end`)
 * ends the request too.
 */
export class ProviderCall {
  readonly #abort = new AbortController();
  readonly #callerSignal: AbortSignal;
  readonly #timeoutMs: number;
  readonly #trace: TraceContext | undefined;
  readonly #watch: SilenceWatch;
  readonly #onCallerAbort = (): void => this.#abort.abort(OVER);
  /** To the attempt that succeeded. */
  #answer: HttpAnswer | undefined;
  #wasSilent = false;
  /** Once the reply is complete. */
  #end: NodeJS.Timeout | undefined;

  /** @param trace for the headers of the request. */
  constructor(callerSignal: AbortSignal, timeoutMs: number, trace?: TraceContext) {
    this.#callerSignal = callerSignal;
    this.#timeoutMs = timeoutMs;
    this.#trace = trace;
    this.#watch = new SilenceWatch(() => {
      this.#wasSilent = true;
      this.#abort.abort(OVER);
    });
    callerSignal.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Once an attempt has succeeded. */
  get answer(): HttpAnswer {
    if (!this.#answer) throw new Error('the model call has no answer yet');
    return this.#answer;
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
  async attempt(url: URL, { headers, body }: Omit<HttpPost, 'signal'>): Promise<Response> {
    this.#watch.start(this.#timeoutMs);
    try {
      const answer = await post(url, {
        headers: { ...headers, ...(this.#trace && traceFields(this.#trace)) },
        body,
        signal: this.signal,
      });
      this.#watch.heard();
      if (answer.status < 300 && answer.status >= 200) {
        this.#answer = answer;
        return SUCCESS;
      }
      const reading = readAtMost(answer.stream, MAX_ERROR_BODY_CHARACTERS, () => this.heard());
      // A body that breaks leaves the status as it is.
      const text = await reading.catch(() => '');
      this.#watch.stop();
      // Statuses such as 304 may have no body at all, not even an empty one.
      return new Response(text || null, { status: answer.status, headers: readHeaders(answer) });
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
    if (!this.#answer?.stream.readableEnded) this.#abort.abort(OVER);
  }
}

/** What the SDK reads of the headers of an error, for its retries. */
const READ_HEADERS = ['content-type', 'retry-after', 'retry-after-ms', 'x-should-retry'];

function readHeaders({ headers }: HttpAnswer): [string, string][] {
  return READ_HEADERS.flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
}

async function readAtMost(stream: Readable, maxCharacters: number, heard: () => void): Promise<string> {
  let text = '';
  for await (const piece of stream) {
    heard();
    text += piece;
    if (text.length >= maxCharacters) break;
  }
  return text;
}
