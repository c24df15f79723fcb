import type { DatabaseSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { currentEvents } from '../../../core/log/event-codec.ts';
import { isSessionEvent, type SessionEvent } from '../../../core/log/events.ts';
import { record } from '../../../core/log/recorded-event.ts';
import { holdsConversation } from '../../../core/log/streams.ts';
import { serviceOrigin } from '../../../core/request/request-origin.ts';
import { decide } from '../../../core/session/session-decider.ts';
import { evolve, initialSessionState, type SessionState } from '../../../core/session/session-state.ts';
import { chainHash } from '../../../stored-log/chain.ts';
import { encodeAll } from '../../../stored-log/stored-row.ts';
import { eventsOf, packed } from '../file/packed-events.ts';
import { storedLink } from '../integrity/chain-reader.ts';
import type { Chain, Sink } from './salvage.ts';

/** A turn whose end is lost, so that the repair has ended it. */
export interface EndedTurn {
  readonly sessionId: SessionId;
  readonly turnId: string;
}

export interface ClosedSession {
  readonly chain: Chain;
  readonly ended: readonly EndedTurn[];
}

/** Settings for messages, which a repair does not have. */
const ANY_POLICY = { queuedMessages: false, whenBusy: 'enqueue' } as const;

/**
 * Ends the turns that are open after the last intact event of a session that was cut. The service would otherwise call
 * the model again for a turn that may have been answered.
 *
 * @param sink stores the events that end them.
 * @returns null when the session is not one whose turns can be told: the next start looks at it.
 */
export function endCutTurns(
  db: DatabaseSync,
  sessionId: SessionId,
  chain: Chain,
  sink: Sink,
): ClosedSession | null {
  const state = holdsConversation(sessionId) ? foldedState(db, sessionId) : null;
  if (state === null || state.deleted) return null;
  const events = decide(state, { type: 'session.repair' }, ANY_POLICY);
  const time = Date.now();
  let { head, hash } = chain;
  for (const row of packed(head, time, encodeAll(record(events, serviceOrigin()), currentEvents))) {
    head = row.seq;
    hash = chainHash(hash, sessionId, row);
    sink(sessionId, row, hash);
  }
  const ended = events.flatMap((event) =>
    event.type === 'turn.cancelled' ? [{ sessionId, turnId: event.turnId }] : [],
  );
  const updatedAt = events.length === 0 ? chain.updatedAt : time;
  return { chain: { ...chain, head, hash, updatedAt }, ended };
}

/** Null when this release cannot read an event, or one contradicts those before it. */
function foldedState(db: DatabaseSync, sessionId: SessionId): SessionState | null {
  const rows = db.prepare('SELECT * FROM events WHERE session = ? ORDER BY seq');
  try {
    let state = initialSessionState();
    for (const row of rows.iterate(sessionId)) {
      for (const { data } of eventsOf(storedLink(row))) state = evolve(state, sessionEvent(data));
    }
    return state;
  } catch {
    return null; // The service says what is wrong when it loads the session.
  }
}

function sessionEvent(data: string): SessionEvent {
  const { event } = currentEvents.decode(data);
  if (!isSessionEvent(event)) throw new Error(`${event.type} is no event of a session`);
  return event;
}
