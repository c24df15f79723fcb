import { TimeoutError } from './session-errors.ts';

/** How long a caller waits. The caller stops to wait; what was sent already may still be done. */
export interface WaitOptions {
  /** Ends the wait: it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the wait after that many milliseconds: it rejects with a `TimeoutError`. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** The longest delay of a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** @throws RangeError when it is no time that a timer can wait. */
export function checkTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) return;
  throw new RangeError(`timeoutMs: found ${timeoutMs}; expected milliseconds from 1 to ${MAX_TIMEOUT_MS}`);
}

/** Starts what is waited for. Returns what to call when nobody waits any longer. */
export type Begin<T> = (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void;

/**
 * A promise that settles as `begin` says, unless the signal or the time ends the wait before.
 * @param why what keeps the service from answering, for the `cause` of the `TimeoutError`
 */
export function waitWithin<T>(
  { signal, timeoutMs }: WaitOptions,
  begin: Begin<T>,
  why: () => unknown = () => undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    checkTimeout(timeoutMs);
    signal?.throwIfAborted();
    const release = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    const end =
      <A>(settle: (value: A) => void) =>
      (value: A): void => {
        release();
        settle(value);
      };
    const giveUp = (reason: unknown): void => {
      abandon();
      end(reject)(reason);
    };
    const abort = (): void => giveUp(signal?.reason);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let abandon = (): void => undefined;
    // Before it begins: it may be over at once.
    signal?.addEventListener('abort', abort, { once: true });
    if (timeoutMs !== undefined)
      timer = setTimeout(
        () => giveUp(new TimeoutError('the service did not answer', timeoutMs, why())),
        timeoutMs,
      );
    try {
      abandon = begin(end(resolve), end(reject));
    } catch (error) {
      end(reject)(error);
    }
  });
}
