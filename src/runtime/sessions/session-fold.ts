import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { messagesBytes } from '../../core/session/retained-bytes.ts';
import { evolve, initialSessionState, type SessionState } from '../../core/session/session-state.ts';
import { nextLoop } from '../../timing/next-loop.ts';
import type { Journal } from './journal.ts';
import type { LogReaders } from './log-readers.ts';
import type { SessionSnapshots } from './session-snapshots.ts';

/** A session right after one of its events. */
export interface FoldedSession {
  readonly state: SessionState;
  /** The event after which the session is shown. Undefined when the session has no events. */
  readonly last: Envelope | undefined;
  /** Seq of the snapshot that the fold began with; 0 when it began with the first event. */
  readonly snapshotSeq: number;
}

export interface FoldDeps {
  readonly journal: Journal;
  readonly snapshots: SessionSnapshots;
  readonly readers: LogReaders;
}

/** Folds a session at any seq from the log, from the nearest snapshot on. */
export class SessionFold {
  readonly #deps: FoldDeps;

  constructor(deps: FoldDeps) {
    this.#deps = deps;
  }

  /** @param at seq to fold up to. Left out, or beyond the head: the head of the log. */
  at(sessionId: SessionId, at = Infinity): Promise<FoldedSession> {
    return this.#deps.readers.run(() => this.#foldTo(sessionId, at));
  }

  async #foldTo(sessionId: SessionId, at: number): Promise<FoldedSession> {
    const { readers, journal } = this.#deps;
    const start = await this.#start(sessionId, at);
    let { state, last } = start;
    let bytes = 0;
    let leave: (() => void) | null = null;
    try {
      for await (const page of journal.pages(sessionId, state.seq, at - state.seq)) {
        // Other work runs between two pages.
        if (state.seq > start.state.seq) await nextLoop();
        const before = state.transcript.length;
        for (const { event } of page) state = evolve(state, event);
        last = page.at(-1);
        bytes += messagesBytes(state.transcript.slice(before));
        leave ??= await readers.admitLarge(bytes);
      }
    } finally {
      leave?.();
    }
    return { state, last, snapshotSeq: start.snapshotSeq };
  }

  async #start(sessionId: SessionId, at: number): Promise<FoldedSession> {
    const fromBeginning = { state: initialSessionState(), last: undefined, snapshotSeq: 0 };
    const snapshot = await this.#deps.snapshots.find(sessionId, at);
    const state = snapshot?.state;
    if (!snapshot || !state) return fromBeginning;
    // A repair may have cut the log, or a backup replaced it, and the log may have grown again since.
    const [last] = await this.#deps.journal.read(sessionId, state.seq - 1, 1);
    if (last && snapshot.isAfter(last)) return { state, last, snapshotSeq: state.seq };
    await this.#deps.snapshots.discard(sessionId);
    return fromBeginning;
  }
}
