import type { SessionId } from '../../core/ids.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import { decide } from '../../core/session/session-decider.ts';
import { evolve, initialSessionState } from '../../core/session/session-state.ts';
import type { NewFork } from './journal.ts';
import { SessionActor, type SessionParts } from './session-actor.ts';
import type { FoldedSession, SessionFold } from './session-fold.ts';
import type { SessionSnapshots } from './session-snapshots.ts';

export interface LoaderParts extends Omit<SessionParts, 'onGrown'> {
  readonly fold: SessionFold;
  readonly snapshots: SessionSnapshots;
}

/** Makes the actors of sessions from the log, and erases what they leave there. Whether one is in memory already is for its caller to know. */
export class SessionLoader {
  readonly #parts: LoaderParts;

  constructor(parts: LoaderParts) {
    this.#parts = parts;
  }

  /** The session as the log has it. Finishes a deletion that was under way: the session then begins anew. */
  async load(sessionId: SessionId): Promise<SessionActor> {
    const session = this.#actor(sessionId, await this.#parts.fold.at(sessionId));
    if (!session.state.deleted) return session;
    await this.erase(sessionId);
    return this.#actor(sessionId, await this.#parts.fold.at(sessionId));
  }

  /**
   * The session as it is when the log has nothing of it, which nobody has looked up. The log refuses what is first
   * told to it when that is wrong.
   */
  presumeNew(sessionId: SessionId): SessionActor {
    return this.#actor(sessionId, { state: initialSessionState(), last: undefined, snapshotSeq: 0 }, true);
  }

  /** A new session `to`, which shares the past of `from` up to `at`. */
  async fork({ from, at, to }: NewFork, origin: Origin): Promise<SessionActor> {
    const { journal, policy, fold } = this.#parts;
    const { state } = await fold.at(from, at);
    const closing = decide(state, { type: 'session.fork', from, at }, policy);
    await journal.fork({ from, at, to }, closing, origin);
    // What a fold of its own log would give.
    return this.#actor(to, { state: closing.reduce(evolve, state), last: undefined, snapshotSeq: 0 });
  }

  async erase(sessionId: SessionId): Promise<void> {
    // First: an event log that has the deletion is what has the rest finished after a crash.
    await this.#parts.snapshots.erase(sessionId);
    await this.#parts.journal.erase(sessionId);
  }

  #actor(
    sessionId: SessionId,
    { state, last, snapshotSeq }: FoldedSession,
    isPresumed = false,
  ): SessionActor {
    const onGrown = this.#parts.snapshots.follow(sessionId, snapshotSeq);
    if (last) onGrown(state, last);
    return new SessionActor(sessionId, { state, last }, { ...this.#parts, onGrown }, isPresumed);
  }
}
