import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { ReplyReader } from '../reply/reply-reader.ts';
import { SilenceWatch } from './silence-watch.ts';

/** One shared reason: a new error for each call would cost a stack trace that nobody reads. */
const OVER = new DOMException('the model call is over', 'AbortError');

export type AttemptTimes = Pick<LlmConfig, 'firstByteTimeoutMs' | 'timeoutMs'>;

/** One HTTP request. The caller's signal and silence of the provider both end its connection. */
export class Attempt {
  readonly #abort = new AbortController();
  readonly #callerSignal: AbortSignal;
  readonly #times: AttemptTimes;
  readonly #watch: SilenceWatch;
  readonly #onCallerAbort = (): void => this.#abort.abort(OVER);
  #hasBegun = false;
  #end: NodeJS.Timeout | undefined;
  wasSilent = false;
  /** Whether the whole answer was read, so that its connection can be used again. */
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

  /** Call this when bytes of the provider have come. */
  heard(): void {
    this.#watch.heard();
  }

  /** Once the reply has begun, the provider may be silent for `timeoutMs` only. */
  noteProgress({ hasBegun }: ReplyReader): void {
    if (this.#hasBegun || !hasBegun || this.#end) return;
    this.#hasBegun = true;
    this.#watch.start(this.#times.timeoutMs);
  }

  /** The reply is complete. The stream must end within this time, whatever else the provider sends. */
  expectEnd(withinMs: number): void {
    if (this.#end) return;
    this.#watch.stop();
    this.#end = setTimeout(() => this.#abort.abort(OVER), withinMs);
  }

  /** Ends the request unless it is complete, and removes timers and listener. */
  end(): void {
    this.#watch.stop();
    clearTimeout(this.#end);
    this.#callerSignal.removeEventListener('abort', this.#onCallerAbort);
    if (!this.isComplete) this.#abort.abort(OVER);
  }
}
