import { ServiceError } from '../contract/errors.ts';
import type { SessionId } from '../contract/ids.ts';
import { evolve, initialSessionState } from '../domain/session-state.ts';
import type { Journal } from './journal.ts';
import { SessionActor, type SessionParts } from './session-actor.ts';

export type RegistryParts = Omit<SessionParts, 'onFault'> & { readonly journal: Journal };

/** Finds the actor of a session, or makes it from the log. At most one for each session. */
export class SessionRegistry {
  readonly #parts: SessionParts;
  readonly #sessions = new Map<SessionId, Promise<SessionActor>>();
  #draining = false;

  constructor(parts: RegistryParts) {
    this.#parts = { ...parts, onFault: (session) => this.#sessions.delete(session.sessionId) };
  }

  /** Rejects when the log cannot be read; the next call tries again. */
  session(sessionId: SessionId): Promise<SessionActor> {
    const known = this.#sessions.get(sessionId);
    if (known) return known;
    const loading = this.#load(sessionId);
    this.#sessions.set(sessionId, loading);
    loading.catch(() => {
      // A fault may have removed it already, and somebody may have asked again since.
      if (this.#sessions.get(sessionId) === loading) this.#sessions.delete(sessionId);
    });
    return loading;
  }

  /**
   * Refuses while the service is stopping: a message must not be accepted and then left lying. Its promise is
   * that of `session` itself, so that what is asked of a session while it loads keeps its order.
   */
  sessionForTurn(sessionId: SessionId): Promise<SessionActor> {
    return this.#draining ? Promise.reject(stopping()) : this.session(sessionId);
  }

  /** Takes no more messages and lets the open turns finish; what is open after `timeoutMs` stays open in the log. */
  async drain(timeoutMs: number): Promise<void> {
    this.#draining = true;
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, timeoutMs);
    const sessions = (await Promise.allSettled(this.#sessions.values())).flatMap((loaded) =>
      loaded.status === 'fulfilled' ? [loaded.value] : [],
    );
    await Promise.race([Promise.all(sessions.map((session) => session.idle())), timeout.promise]);
    clearTimeout(timer);
    for (const session of sessions) session.stop();
  }

  async #load(sessionId: SessionId): Promise<SessionActor> {
    const envelopes = await this.#parts.journal.read(sessionId, 0);
    const state = envelopes.reduce((folded, { event }) => evolve(folded, event), initialSessionState());
    const session = new SessionActor(sessionId, state, this.#parts);
    // A service that is stopping begins nothing: the turn goes on at the next start.
    if (state.open && !this.#draining) await session.resume();
    return session;
  }
}

function stopping(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The service is stopping. Try again in a moment.', {
    reason: 'the service is stopping',
    retryAfter: 5,
  });
}
