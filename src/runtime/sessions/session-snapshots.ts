import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { encodeSnapshot, SnapshotDecoder } from '../../core/session/session-snapshot.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { Log } from '../../ports/log.ts';
import type { Snapshot, SnapshotStore } from '../../ports/snapshot-store.ts';
import { nextLoop } from '../../timing/next-loop.ts';

/** Fewer events than these are folded faster than a snapshot is worth. */
const LEAST_EVENTS = 1_000;
/**
 * A snapshot holds the whole conversation. Taken each time the session has grown by this part of it, all the
 * snapshots of a session together cost a fixed number of times its length, and not its square.
 */
const GROWTH = 1 / 4;

/** Told what a session has become, and by which event. */
export type Grown = (state: SessionState, last: Envelope) => void;

/**
 * Takes and finds snapshots of sessions. They are a cache: what goes wrong with one is logged, and the session is
 * folded from its beginning.
 */
export class SessionSnapshots implements AsyncDisposable {
  readonly #store: SnapshotStore;
  readonly #log: Log;
  readonly #saving = new Map<SessionId, Promise<void>>();

  constructor(store: SnapshotStore, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** The latest snapshot that can be read, of this moment or an earlier one. Its caller compares it with the log. */
  async find(sessionId: SessionId, latestSeq: number): Promise<SnapshotDecoder | undefined> {
    try {
      const snapshot = await this.#store.load(sessionId, latestSeq);
      return snapshot && (await decode(snapshot));
    } catch (error) {
      this.#log.warn({ sessionId, err: error }, 'a snapshot could not be loaded: the session loads slowly');
      return undefined;
    }
  }

  /** @param seq of the session's latest snapshot, or 0. @returns what takes the next ones, in the background. */
  follow(sessionId: SessionId, seq: number): Grown {
    // Also of one that failed: it is not tried again for each event.
    let taken = seq;
    return (state, last) => {
      const isDue = state.seq - taken >= Math.max(LEAST_EVENTS, state.transcript.length * GROWTH);
      if (!isDue || state.deleted) return;
      taken = state.seq;
      this.#saveBehind(sessionId, state.seq, encodeSnapshot(state, last));
    };
  }

  /** One that the log contradicts. */
  async discard(sessionId: SessionId): Promise<void> {
    this.#log.warn({ sessionId }, 'a snapshot does not belong to the log: the session loads slowly');
    try {
      await this.erase(sessionId);
    } catch (error) {
      this.#log.warn({ sessionId, err: error }, 'a snapshot could not be erased');
    }
  }

  /** Rejects when something may be left of it. To be called when the session is over: none is taken afterwards. */
  async erase(sessionId: SessionId): Promise<void> {
    await this.#saving.get(sessionId);
    await this.#store.erase(sessionId);
  }

  /** Resolves when all that was begun is saved, or has failed. */
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
      this.#log.warn(
        { sessionId, err: error },
        'a snapshot could not be saved: the session will load slowly',
      );
    }
  }
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
