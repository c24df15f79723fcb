import type { SessionId } from '../core/ids.ts';

/** The state of a session right after the event `seq`. */
export interface Snapshot {
  readonly seq: number;
  /** The texts that were saved. Whoever loads them parses them: they may come from another version. */
  readonly parts: readonly string[];
}

/**
 * A cache of folded states, so that a long session need not be folded from its beginning. A state comes in parts,
 * so that a large one need not be encoded, stored and parsed in one go. Promises:
 *
 * - `load` gives what was saved last for the session, or nothing. Nothing is always a right answer: a snapshot may
 *   go at any time, and what is damaged is gone. It never gives parts that were not saved together, in this order.
 * - `save` takes the parts one at a time, as they come. When they end with an error it rejects with that, and the
 *   snapshot before stays. It may be lost by a crash. A snapshot can therefore be older than the log, and after
 *   the log was repaired or replaced it can belong to another one: whoever loads it compares it with the log.
 * - `erase` is durable when it resolves, and leaves no bytes on disk. Erase the snapshot before the events, and when
 *   no `save` for the session is under way: otherwise something of the session would be left.
 */
export interface SnapshotStore extends AsyncDisposable {
  /** @param latestSeq one of a later moment is not given; any is when left out. */
  load(sessionId: SessionId, latestSeq?: number): Promise<Snapshot | undefined>;
  save(sessionId: SessionId, seq: number, parts: AsyncIterable<string>): Promise<void>;
  erase(sessionId: SessionId): Promise<void>;
}
