import type { Envelope } from '../contract/envelope.ts';
import type { SessionEvent } from '../contract/events.ts';
import type { SessionId } from '../contract/ids.ts';

/** Somebody else appended first: the session is at `actual`, not at `expected`. Load it again. */
export class StaleVersionError extends Error {
  readonly sessionId: SessionId;
  readonly expected: number;
  readonly actual: number;

  constructor(sessionId: SessionId, expected: number, actual: number) {
    super(`session ${sessionId} is at seq ${actual}, not at ${expected}`);
    this.name = 'StaleVersionError';
    this.sessionId = sessionId;
    this.expected = expected;
    this.actual = actual;
  }
}

/**
 * The append-only log. Promises:
 *
 * - `append` stores all events or none, with seq `expectedSeq + 1 …` and no holes, and resolves only when
 *   they would survive a crash of the process and, for stores on disk, of the machine.
 * - Two appends with the same expected seq: one wins, the other is refused with `StaleVersionError` and
 *   leaves no trace. Appends to different sessions never wait for each other's outcome.
 * - `read` gives the envelopes after a seq in order, and sees every append that had resolved before the call.
 */
export interface EventStore extends AsyncDisposable {
  /** @param expectedSeq seq of the session's last event; 0 for a session without any. */
  append(sessionId: SessionId, expectedSeq: number, events: readonly SessionEvent[]): Promise<Envelope[]>;

  /** @param limit the most envelopes to give back; all when left out. */
  read(sessionId: SessionId, afterSeq: number, limit?: number): Promise<Envelope[]>;
}
