import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { ReplyProgress } from '../reply/reply-reader.ts';
import { SilenceWatch } from './silence-watch.ts';

/** One shared reason: a new error for each call would cost a stack trace that nobody reads. */
const OVER = new DOMException('the model call is over', 'AbortError');

/** Time for a clean end after the last event, which lets the connection be used again. Some servers never end it. */
const DONE_GRACE_MS = 100;
/** Time for the token counts and the last event after the finish reason. Some servers send neither. */
const ENDING_GRACE_MS = 5_000;

/** How far the reply has come: nothing of it, a piece, its finish reason, or its last event. */
type Progress = 'none' | 'begun' | 'ending' | 'done';

export type AttemptTimes = Pick<LlmConfig, 'firstByteTimeoutMs' | 'timeoutMs'>;

/** One HTTP request. The caller's signal and silence of the provider both end its connection. */
export class Attempt {
  readonly #abort = new AbortController();
  readonly #callerSignal: AbortSignal;
  readonly #times: AttemptTimes;
  readonly #watch: SilenceWatch;
  readonly #onCallerAbort = (): void => this.#abort.abort(OVER);
  #progress: Progress = 'none';
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

  /**
   * Call this after each event. Once the reply has begun, the provider may be silent for `timeoutMs` only. Once the reply
   * is complete, the stream must end within a short time, whatever else the provider sends.
   */
  noteProgress(reply: ReplyProgress): void {
    const progress = progressOf(reply);
    if (progress === this.#progress) return;
    this.#progress = progress;
    const { timeoutMs } = this.#times;
    if (progress === 'ending') this.#expectEnd(Math.min(ENDING_GRACE_MS, timeoutMs));
    else if (progress === 'done') this.#expectEnd(DONE_GRACE_MS);
    else {
      clearTimeout(this.#end);
      this.#watch.start(timeoutMs);
    }
  }

  #expectEnd(withinMs: number): void {
    this.#watch.stop();
    clearTimeout(this.#end);
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

function progressOf(reply: ReplyProgress): Progress {
  if (reply.hasEnding) return reply.isDone ? 'done' : 'ending';
  return reply.hasBegun ? 'begun' : 'none';
}
