import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { ReplyReader } from '../reply/reply-reader.ts';
import { SilenceWatch } from './silence-watch.ts';

/** One for all: a reason made anew is an error with its stack, and nobody reads it. */
const OVER = new DOMException('the model call is over', 'AbortError');

export type AttemptTimes = Pick<LlmConfig, 'firstByteTimeoutMs' | 'timeoutMs'>;

/** One request on the wire. Whatever ends it, the caller's signal or silence, ends the connection, too. */
export class Attempt {
  readonly #abort = new AbortController();
  readonly #callerSignal: AbortSignal;
  readonly #times: AttemptTimes;
  readonly #watch: SilenceWatch;
  readonly #onCallerAbort = (): void => this.#abort.abort(OVER);
  #hasBegun = false;
  #end: NodeJS.Timeout | undefined;
  wasSilent = false;
  /** The whole answer was read, so its connection can be used again. */
  isComplete = false;

  constructor(callerSignal: AbortSignal, times: AttemptTimes) {
    this.#callerSignal = callerSignal;
    this.#times = times;
    this.#watch = new SilenceWatch(() => {
      this.wasSilent = true;
      this.#abort.abort(OVER);
    });
    callerSignal.addEventListener('abort', this.#onCallerAbort, { once: true });
    this.#watch.start(times.firstByteTimeoutMs);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The provider gave a sign of life. */
  heard(): void {
    this.#watch.heard();
  }

  /** Once the provider has begun to answer it may be silent for less long. */
  told({ hasBegun }: ReplyReader): void {
    if (this.#hasBegun || !hasBegun || this.#end) return;
    this.#hasBegun = true;
    this.#watch.start(this.#times.timeoutMs);
  }

  /** The reply is complete; the rest of the stream may take this long and no longer, whatever else is sent. */
  expectEnd(withinMs: number): void {
    if (this.#end) return;
    this.#watch.stop();
    this.#end = setTimeout(() => this.#abort.abort(OVER), withinMs);
  }

  /** Leaves neither request nor timer nor listener behind. */
  end(): void {
    this.#watch.stop();
    clearTimeout(this.#end);
    this.#callerSignal.removeEventListener('abort', this.#onCallerAbort);
    if (!this.isComplete) this.#abort.abort(OVER);
  }
}
