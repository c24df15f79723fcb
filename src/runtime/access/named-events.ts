import { sessionNameFor } from '../../core/access/session-names.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { forkedFrom } from '../../core/turn/ending-reasons.ts';
import type { VisibleSessions } from './visible-sessions.ts';

/** Stands for a session that the client may not see. No session has this id: every principal has a colon. */
const HIDDEN_SESSION: SessionId = 'hidden/hidden/hidden';

const FORKED = forkedFrom('');

/** The event as its client may read it: with the client's names in place of the ids of sessions. */
export function namedEvent(envelope: Envelope, client: RequestContext, visible: VisibleSessions): Envelope {
  const sessionId = sessionNameFor(envelope.sessionId, client);
  const { event } = envelope;
  if (event.type === 'session.forked')
    return { ...envelope, sessionId, event: { ...event, from: originFor(event.from, client, visible) } };
  if (event.type !== 'turn.cancelled') return { ...envelope, sessionId };
  const { cause } = event;
  const named = {
    ...event,
    cause:
      cause.kind === 'session-forked' ? { ...cause, from: originFor(cause.from, client, visible) } : cause,
    reason: namedReason(event.reason, client, visible),
  };
  return { ...envelope, sessionId, event: named };
}

/** Why a turn was cancelled, for its client. */
export function namedReason(reason: string, client: RequestContext, visible: VisibleSessions): string {
  if (!reason.startsWith(FORKED)) return reason;
  return forkedFrom(originFor(reason.slice(FORKED.length), client, visible));
}

/** The client may see a fork without seeing the session that it was made from. */
function originFor(id: SessionId, client: RequestContext, visible: VisibleSessions): SessionId {
  return visible.isSeenBy(id, client) ? sessionNameFor(id, client) : HIDDEN_SESSION;
}
