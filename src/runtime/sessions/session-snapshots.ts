import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { StorageAwayError } from '../../core/log/storage-away.ts';
import { encodeSnapshot, SnapshotDecoder } from '../../core/session/session-snapshot.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Snapshot, SnapshotStore } from '../../ports/snapshot-store.ts';
import { nextLoop } from '../../timing/next-loop.ts';

/** Below this many events, folding is faster than loading a snapshot. */
const MIN_EVENTS = 1_000;
/**
 * A snapshot is taken each time the session has grown by this fraction. It holds the whole conversation, so snapshots at
 * a fixed distance would cost the square of the session's length; these cost a constant multiple of it.
 */
const GROWTH = 1 / 4;

/** Called with a session's new state and the event that led to it. */
export type Grown = (state: SessionState, last: Envelope) => void;

/**
 * Takes and finds snapshots of sessions. Snapshots are a cache: a failure is logged, and the session is folded from its
 * first event.
 */
export class SessionSnapshots implements AsyncDisposable {
  readonly #store: SnapshotStore;
  readonly #log: Logger;
  readonly #saving = new Map<SessionId, Promise<void>>();

  constructor(store: SnapshotStore, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  /** The latest readable snapshot up to this seq. The caller checks that the log agrees with it. */
  async find(sessionId: SessionId, latestSeq: number): Promise<SnapshotDecoder | undefined> {
    try {
      const snapshot = await this.#store.load(sessionId, latestSeq);
      return snapshot && (await decode(snapshot));
    } catch (error) {
      const message = 'a snapshot could not be loaded: the session loads slowly';
      this.#log[levelOf(error)]({ sessionId, err: error }, message);
      return undefined;
    }
  }

  /** @param seq of the session's latest snapshot, or 0. @returns a callback that takes further snapshots in the background. */
  follow(sessionId: SessionId, seq: number): Grown {
    // Set before the save, so that a save that fails is not repeated for each event.
    let taken = seq;
    return (state, last) => {
      const isDue = state.seq - taken >= Math.max(MIN_EVENTS, state.transcript.length * GROWTH);
      if (!isDue || state.deleted) return;
      taken = state.seq;
      this.#saveBehind(sessionId, state.seq, encodeSnapshot(state, last));
    };
  }

  /** Removes a snapshot that the log contradicts. */
  async discard(sessionId: SessionId): Promise<void> {
    this.#log.warn({ sessionId }, 'a snapshot does not belong to the log: the session loads slowly');
    try {
      await this.erase(sessionId);
    } catch (error) {
      this.#log[levelOf(error)]({ sessionId, err: error }, 'a snapshot could not be erased');
    }
  }

  /** Removes all snapshots of a deleted session. Rejects if some may remain. */
  async erase(sessionId: SessionId): Promise<void> {
    await this.#saving.get(sessionId);
    await this.#store.erase(sessionId);
  }

  /** Resolves when every snapshot that was begun is saved or has failed. */
  async settled(): Promise<void> {
    await Promise.all(this.#saving.values());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.settled();
    await this.#store[Symbol.asyncDispose]();
  }

  #saveBehind(sessionId: SessionId, seq: number, parts: Iterable<string>): void {
    const before = this.#saving.get(sessionId);
    const saved = this.#save(before, sessionId, seq, parts).finally(() => {
      if (this.#saving.get(sessionId) === saved) this.#saving.delete(sessionId);
    });
    this.#saving.set(sessionId, saved);
  }

  async #save(
    before: Promise<void> | undefined,
    sessionId: SessionId,
    seq: number,
    parts: Iterable<string>,
  ): Promise<void> {
    await before;
    try {
      await this.#store.save(sessionId, seq, unhurried(parts));
    } catch (error) {
      const message = 'a snapshot could not be saved: the session will load slowly';
      this.#log[levelOf(error)]({ sessionId, err: error }, message);
    }
  }
}

/** An outage of the database is reported once, and not for each snapshot. */
function levelOf(error: unknown): 'debug' | 'warn' {
  return error instanceof StorageAwayError ? 'debug' : 'warn';
}

async function decode({ parts }: Snapshot): Promise<SnapshotDecoder | undefined> {
  const decoder = new SnapshotDecoder();
  for (const part of parts) {
    if (!decoder.take(part)) return undefined;
    await nextLoop();
  }
  return decoder;
}

async function* unhurried(parts: Iterable<string>): AsyncGenerator<string, void, void> {
  for (const part of parts) {
    await nextLoop();
    yield part;
  }
}
