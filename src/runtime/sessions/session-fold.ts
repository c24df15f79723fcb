import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { evolve, initialSessionState, type SessionState } from '../../core/session/session-state.ts';
import { nextLoop } from '../../timing/next-loop.ts';
import type { Journal } from './journal.ts';
import type { SessionSnapshots } from './session-snapshots.ts';

/** Events read per page while a session is folded. */
const PAGE_EVENTS = 1_000;

/** A session right after one of its events. */
export interface FoldedSession {
  readonly state: SessionState;
  /** That event. Undefined when the session has no events. */
  readonly last: Envelope | undefined;
  /** Seq of the snapshot that the fold began with; 0 when it began with the first event. */
  readonly snapshotSeq: number;
}

/** Folds a session at any seq from the log, from the nearest snapshot on. */
export class SessionFold {
  readonly #journal: Journal;
  readonly #snapshots: SessionSnapshots;

  constructor(journal: Journal, snapshots: SessionSnapshots) {
    this.#journal = journal;
    this.#snapshots = snapshots;
  }

  /** @param at seq to fold up to. Left out, or beyond the head: the head of the log. */
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
    // A repair may have cut the log, or a backup replaced it, and it may have grown again since.
    const [last] = await this.#journal.read(sessionId, state.seq - 1, 1);
    if (last && snapshot.isAfter(last)) return { state, last, snapshotSeq: state.seq };
    await this.#snapshots.discard(sessionId);
    return fromBeginning;
  }
}
