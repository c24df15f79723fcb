import type { SessionId } from '../core/ids.ts';

/** The state of a session right after the event `seq`. */
export interface Snapshot {
  readonly seq: number;
  /** The texts as saved. Parse them after loading: another version of the service may have saved them. */
  readonly parts: readonly string[];
}

/**
 * A cache of folded states, so that a long session need not be folded from its beginning. A state comes in
 * parts, so that a large one need not be encoded, stored and parsed in one go. Promises:
 *
 * - `load` returns the latest snapshot of the session, or nothing. Nothing is always a valid answer: a
 *   snapshot may disappear at any time, and a damaged one counts as gone. The parts were saved together, in
 *   this order.
 * - `save` takes the parts one at a time. If `parts` throws, it rejects with that error and the previous
 *   snapshot stays. A crash may undo a save, so a snapshot can be older than the log. After the log was
 *   repaired or replaced, a snapshot can belong to another log. Compare it with the log after loading.
 *   A store that several nodes share keeps nothing if the log has no such session up to `seq`, or if it is not this node's.
 * - `erase` is durable when it resolves, and leaves no bytes on disk. Erase the snapshot before the events,
 *   and while no `save` of the session runs. Otherwise parts of the session would remain.
 */
export interface SnapshotStore extends AsyncDisposable {
  /** @param latestSeq ignores snapshots after this seq. */
  load(sessionId: SessionId, latestSeq?: number): Promise<Snapshot | undefined>;
  save(sessionId: SessionId, seq: number, parts: AsyncIterable<string>): Promise<void>;
  erase(sessionId: SessionId): Promise<void>;
}
