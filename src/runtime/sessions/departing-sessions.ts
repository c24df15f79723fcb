import { serviceStopping } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import { SessionElsewhereError } from '../../ports/membership.ts';
import { within } from '../../timing/deadline.ts';
import type { LoadedSessions } from './loaded-sessions.ts';
import type { SessionActor } from './session-actor.ts';

export interface DepartingDeps {
  readonly inMemory: LoadedSessions;
  /** Called when the service begins to stop. */
  readonly onStopping: () => void;
  /** The erasure of the session, while it is under way. */
  readonly erasureOf: (session: SessionActor) => Promise<void> | undefined;
}

/** Called when a session has left memory, with the seq of its last event; 0 if it was erased. */
export type OnLeft = (sessionId: SessionId, seq: number) => Promise<void>;

/** Takes the sessions out of memory when the service stops: their turns end here, or another process goes on with them. */
export class DepartingSessions {
  readonly #deps: DepartingDeps;
  #isDraining = false;
  /** The sessions that are handed over, until the end of the process. */
  readonly #leaving = new Map<SessionId, Promise<void>>();

  constructor(deps: DepartingDeps) {
    this.#deps = deps;
  }

  /** Whether the service is stopping and takes no more messages. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Throws if the session takes no more messages here. One that is handed over takes them until it has left memory. */
  requireTakesMessages(sessionId: SessionId): void {
    if (!this.#isDraining) return;
    if (!this.#leaving.has(sessionId)) throw serviceStopping();
    if (!this.#deps.inMemory.has(sessionId)) throw new SessionElsewhereError(sessionId, null);
  }

  /** Takes no more messages and lets the open turns finish. A turn that is open after `timeoutMs` stays open in the log. */
  async drain(timeoutMs: number): Promise<void> {
    this.#stopWork();
    const loaded = this.#deps.inMemory.close();
    await within(timeoutMs, loaded.then(stopAtRest), undefined);
    for (const session of await loaded) session.stop();
  }

  /**
   * Gives the sessions up, each between two steps of its turn, so that another process can go on with it. A step that goes
   * on for longer than `timeoutMs` is given up and run again there.
   */
  async handOver(timeoutMs: number, onLeft: OnLeft): Promise<void> {
    this.#stopWork();
    await this.#deps.inMemory.close((session) => {
      const left = this.#leave(session, timeoutMs, onLeft);
      this.#leaving.set(session.sessionId, left);
      return left;
    });
  }

  /** Resolves when a session that is handed over has left memory. */
  async left(sessionId: SessionId): Promise<void> {
    await this.#leaving.get(sessionId)?.catch(() => undefined);
  }

  #stopWork(): void {
    this.#isDraining = true;
    this.#deps.onStopping();
  }

  async #leave(session: SessionActor, timeoutMs: number, onLeft: OnLeft): Promise<void> {
    const { inMemory, erasureOf } = this.#deps;
    await within(timeoutMs, session.handOver(), undefined);
    session.leave();
    // The next owner goes on from what the log has, so no append may be under way. Closing the log waits for appends, too.
    await session.settled();
    // Later, the erasure could hit a session that another node has begun with the same id.
    const isErased = await erasureOf(session)?.then(
      () => true,
      () => false,
    );
    inMemory.forget(session);
    await onLeft(session.sessionId, isErased ? 0 : session.state.seq);
  }
}

/** Stops the sessions as soon as all are at rest. While the last one works, an answer may set another to work again. */
async function stopAtRest(sessions: readonly SessionActor[]): Promise<void> {
  while (!sessions.every(({ isAtRest }) => isAtRest))
    await Promise.all(sessions.map((session) => session.idle()));
  // At once, so that nothing begins in between.
  for (const session of sessions) session.stop();
}
