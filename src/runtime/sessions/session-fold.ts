import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { evolve, initialSessionState, type SessionState } from '../../core/session/session-state.ts';
import { nextLoop } from '../../timing/next-loop.ts';
import type { Journal } from './journal.ts';
import type { SessionSnapshots } from './session-snapshots.ts';

/** Events that are in memory at once while a session is folded. */
const PAGE_EVENTS = 1_000;

/** A session right after one of its events. */
export interface FoldedSession {
  readonly state: SessionState;
  /** That event; undefined when the session has none. */
  readonly last: Envelope | undefined;
  /** Seq of the snapshot that it was folded from; 0 when it was folded from its beginning. */
  readonly snapshotSeq: number;
}

/** The state of a session at any moment, from the log, with the help of a snapshot where there is one. */
export class SessionFold {
  readonly #journal: Journal;
  readonly #snapshots: SessionSnapshots;

  constructor(journal: Journal, snapshots: SessionSnapshots) {
    this.#journal = journal;
    this.#snapshots = snapshots;
  }

  /** @param at seq of the moment; the head of the log when left out, or beyond it. */
  async at(sessionId: SessionId, at = Infinity): Promise<FoldedSession> {
    const start = await this.#start(sessionId, at);
    let { state, last } = start;
    while (state.seq < at) {
      const limit = Math.min(PAGE_EVENTS, at - state.seq);
      const page = await this.#journal.read(sessionId, state.seq, limit);
      for (const envelope of page) {
        state = evolve(state, envelope.event);
        last = envelope;
      }
      if (page.length < limit) break;
      await nextLoop();
    }
    return { state, last, snapshotSeq: start.snapshotSeq };
  }

  async #start(sessionId: SessionId, at: number): Promise<FoldedSession> {
    const fromBeginning = { state: initialSessionState(), last: undefined, snapshotSeq: 0 };
    const snapshot = await this.#snapshots.find(sessionId, at);
    const state = snapshot?.state;
    if (!snapshot || !state) return fromBeginning;
    // The log may have been cut back by a repair, or replaced by a backup, and have grown again since.
    const [last] = await this.#journal.read(sessionId, state.seq - 1, 1);
    if (last && snapshot.isAfter(last)) return { state, last, snapshotSeq: state.seq };
    await this.#snapshots.discard(sessionId);
    return fromBeginning;
  }
}
