import type { SessionId } from '../contract/ids.ts';

/** The state of a session right after the event `seq`. */
export interface Snapshot {
  readonly seq: number;
  /** JSON. Whoever loads it parses it: it may come from another version. */
  readonly state: unknown;
}

/**
 * A cache of folded states, so that a long session need not be folded from its beginning. Promises:
 *
 * - `load` gives what was saved last for the session, or nothing. Nothing is always a right answer: a snapshot may
 *   go at any time, and what is damaged is gone. It never gives a state that was not saved so.
 * - `save` may be lost by a crash. A snapshot can therefore be older than the log, and after a repair of the log
 *   newer: whoever loads one with a seq above the session's head must not use it.
 * - `erase` is durable when it resolves, and leaves no bytes on disk. Erase the snapshot before the events:
 *   otherwise a new session of the same id could be given the state of the old one.
 */
export interface SnapshotStore extends AsyncDisposable {
  load(sessionId: SessionId): Promise<Snapshot | undefined>;
  save(sessionId: SessionId, seq: number, state: unknown): Promise<void>;
  erase(sessionId: SessionId): Promise<void>;
}
