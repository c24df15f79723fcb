import pLimit from 'p-limit';
import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { evolve, initialSessionState, type SessionState } from '../../core/session/session-state.ts';
import { nextLoop } from '../../timing/next-loop.ts';
import type { Journal } from './journal.ts';
import type { SessionSnapshots } from './session-snapshots.ts';

/** Sessions that are folded at the same time. Of each, a page of the log is in memory, beside the session. */
const MOST_AT_ONCE = 16;
/** Of those of which the log has more than a page: nobody knows how large they are. */
const MOST_LONG = 2;

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
  readonly #folds = pLimit(MOST_AT_ONCE);
  readonly #long = pLimit(MOST_LONG);

  constructor(journal: Journal, snapshots: SessionSnapshots) {
    this.#journal = journal;
    this.#snapshots = snapshots;
  }

  /** @param at seq to fold up to. Left out, or beyond the head: the head of the log. */
  at(sessionId: SessionId, at = Infinity): Promise<FoldedSession> {
    return this.#folds(() => this.#foldTo(sessionId, at));
  }

  async #foldTo(sessionId: SessionId, at: number): Promise<FoldedSession> {
    const start = await this.#start(sessionId, at);
    let { state, last } = start;
    const pages = this.#journal.pages(sessionId, state.seq, at - state.seq);
    const fold = (page: readonly Envelope[]): void => {
      for (const { event } of page) state = evolve(state, event);
      last = page.at(-1);
    };
    const first = await pages.next();
    if (!first.done) fold(first.value);
    const second = await pages.next();
    if (!second.done)
      await this.#long(async () => {
        fold(second.value);
        for await (const page of pages) {
          await nextLoop();
          fold(page);
        }
      });
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
