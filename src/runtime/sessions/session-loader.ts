import type { SessionId } from '../../core/ids.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import { decide } from '../../core/session/session-decider.ts';
import { evolve, initialSessionState, type SessionState } from '../../core/session/session-state.ts';
import { evolveTitle, shownTitle } from '../../core/session/session-title.ts';
import { requireForkPoint } from '../../ports/event-store.ts';
import type { Journal, NewFork } from './journal.ts';
import { SessionActor, type SessionDeps } from './session-actor.ts';
import type { FoldedSession, SessionFold } from './session-fold.ts';
import type { StateBasis } from './session-record.ts';
import type { SessionSnapshots } from './session-snapshots.ts';
import { type WaitingCall, waitingCalls } from './waiting-calls.ts';

export interface LoaderDeps extends Omit<SessionDeps, 'onGrown'> {
  readonly journal: Journal;
  readonly fold: SessionFold;
  readonly snapshots: SessionSnapshots;
  /**
   * Forgets what else belongs to a session. Called before the session is erased, and again afterwards, because something may
   * have been added meanwhile. If it rejects, the erasure fails.
   */
  readonly alsoForget?: (sessionId: SessionId) => Promise<void> | undefined;
  /** Called with a session of the log before its turns go on. */
  readonly onLoaded?: ((state: SessionState) => void) | undefined;
}

interface ActorStart {
  readonly waitingCalls?: readonly WaitingCall[];
  readonly basis?: StateBasis;
}

/** Creates session actors from the log, and erases sessions. The caller makes sure that no other actor of the session exists. */
export class SessionLoader {
  readonly #deps: LoaderDeps;

  constructor(deps: LoaderDeps) {
    this.#deps = deps;
  }

  /** The session as the log has it. Finishes a deletion that was cut off; the session is then a new one. */
  async load(sessionId: SessionId): Promise<SessionActor> {
    const folded = await this.#deps.fold.at(sessionId);
    if (!folded.state.deleted) {
      this.#deps.onLoaded?.(folded.state);
      return this.#actor(sessionId, folded, {
        waitingCalls: await waitingCalls(this.#deps.journal, sessionId, folded.state),
      });
    }
    await this.erase(sessionId);
    return this.#actor(sessionId, await this.#deps.fold.at(sessionId));
  }

  /**
   * A new session, without a look at the log. If the log has the session, its first append is refused.
   * @param isCertain whether the log certainly has no such session.
   */
  presumeNew(sessionId: SessionId, isCertain: boolean): SessionActor {
    return this.#actor(
      sessionId,
      { state: initialSessionState(), last: undefined, snapshotSeq: 0 },
      { basis: isCertain ? 'new' : 'presumed new' },
    );
  }

  /** Creates the session `to` from the events of `from` up to `at`. */
  async fork({ from, at, to, ephemeral }: NewFork, origin: Origin): Promise<SessionActor> {
    const { journal, policy, fold } = this.#deps;
    const { state } = await fold.at(from, at);
    // The session may have been deleted meanwhile, and another one with its id may begin.
    requireForkPoint(from, at, state.seq);
    const closing = decide(state, { type: 'session.fork', from, at, ephemeral }, policy);
    const title = shownTitle(closing.reduce(evolveTitle, state.title));
    // An ephemeral fork counts as open, so that the next start, or another process, finds it.
    await journal.fork({ from, at, to }, closing, { origin, title, open: ephemeral === true });
    // A fold of the new session's log would have the same state.
    return this.#actor(to, { state: closing.reduce(evolve, state), last: undefined, snapshotSeq: 0 });
  }

  async erase(sessionId: SessionId): Promise<void> {
    // The events last: after a failure or a crash, `session.deleted` in the log makes the next load finish the erasure.
    const { alsoForget, snapshots, journal } = this.#deps;
    await alsoForget?.(sessionId);
    await snapshots.erase(sessionId);
    await journal.erase(sessionId);
    await alsoForget?.(sessionId);
  }

  #actor(
    sessionId: SessionId,
    { state, last, snapshotSeq }: FoldedSession,
    { waitingCalls = [], basis = 'log' }: ActorStart = {},
  ): SessionActor {
    const onGrown = this.#deps.snapshots.follow(sessionId, snapshotSeq);
    if (last) onGrown(state, last);
    return new SessionActor(sessionId, { state, last, waitingCalls }, { ...this.#deps, onGrown }, basis);
  }
}
