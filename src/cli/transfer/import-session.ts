import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { evolve, initialSessionState, type SessionState } from '../../core/session/session-state.ts';
import { shownTitle } from '../../core/session/session-title.ts';
import { type AdoptedEvent, type EventStore, StaleVersionError } from '../../ports/event-store.ts';
import { type ExportedSession, lineError } from './exported-session.ts';

export interface Imported {
  readonly sessionId: SessionId;
  readonly events: number;
  /** Whether a turn is open. The next start of the service continues it. */
  readonly open: boolean;
}

/**
 * Stores an exported session unchanged, including its times: either all of it or nothing.
 *
 * @param as the id to store it under; by default its own.
 */
export async function importSession(
  store: EventStore,
  session: ExportedSession,
  as?: SessionId,
): Promise<Imported> {
  const sessionId = as ?? session.sessionId;
  let state = initialSessionState();
  async function* folded(): AsyncGenerator<AdoptedEvent, void, void> {
    for await (const envelope of session.events) {
      state = follow(state, envelope, session.name);
      const { time, event, meta } = envelope;
      yield { time, event, meta, mark: { open: state.open !== null, title: shownTitle(state.title) } };
    }
  }
  try {
    const events = await store.adopt(sessionId, folded());
    return { sessionId, events, open: state.open !== null };
  } catch (error) {
    throw error instanceof StaleVersionError ? exists(sessionId, error) : error;
  }
}

/** Refuses an impossible history now, and not only when the session is loaded. */
function follow(state: SessionState, { seq, event }: Envelope, name: string): SessionState {
  try {
    if (event.type === 'session.deleted') throw new Error('event.type: the session was deleted');
    return evolve(state, event);
  } catch (error) {
    throw lineError(name, seq, error);
  }
}

function exists(sessionId: SessionId, cause: StaleVersionError): Error {
  const message = `session ${sessionId} already exists; choose another id with --session`;
  return new Error(message, { cause });
}
