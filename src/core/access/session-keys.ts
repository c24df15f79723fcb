import type { SessionId } from '../ids.ts';
import type { Envelope } from '../log/envelope.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { IdempotencyKey } from '../request/request-events.ts';
import { isBy } from '../request/request-origin.ts';
import { isOwn, type Owner, ownPrefix, sessionIdOf } from './session-names.ts';

/*
 * The idempotency keys that a session remembers. In a shared session, several principals choose keys, and each has its own.
 * The key of the session's owner is stored as it was sent. The key of somebody else is stored with its principal before it,
 * as `of acme/key:ci/ order-17`. No key of an owner begins like that: the keys of clients have no spaces, and those that the
 * service makes have other beginnings. A fork knows none of these keys, but its log has copies of them, which are those of
 * the other owner if it was made of somebody else's session.
 */

const SCOPED = 'of ';

/** In place of a cause that may be somebody else's key. It cannot be a key itself. */
const NOT_SHOWN = 'not shown';

const scopeOf = (client: Owner): string => `${SCOPED}${ownPrefix(client)} `;

/** The key as the session stores it. */
export function storedKey(id: SessionId, key: IdempotencyKey, client: Owner): IdempotencyKey {
  return isOwn(id, client) ? key : { ...key, id: scopeOf(client) + key.id };
}

/** The inverse of `storedKey`, for a key of this client. */
export function sentKeyId(stored: string, client: Owner): string {
  const scope = scopeOf(client);
  return stored.startsWith(scope) ? stored.slice(scope.length) : stored;
}

/** The event with its key as this client has sent it. Without the key if somebody else has. */
export function withOwnKey(envelope: Envelope, client: RequestContext): Envelope {
  const { event, sessionId, meta } = envelope;
  if (!client.rights || (event.type !== 'turn.requested' && event.type !== 'session.reset') || !event.key)
    return envelope;
  const { key, ...keyless } = event;
  const id = sentKeyId(key.id, client);
  if (id !== key.id) return { ...envelope, event: { ...event, key: { ...key, id } } };
  const isOfOwner = !id.startsWith(SCOPED) && isOwn(sessionIdOf(sessionId, client), client);
  return isOfOwner && isBy(meta, client) ? envelope : { ...envelope, event: keyless };
}

/** The same, and without the keys of others as causes of events: a decision, an answer and a cancellation have them there. */
export function withoutOthersKeys(envelope: Envelope, client: RequestContext): Envelope {
  const { event, meta } = envelope;
  const shown = withOwnKey(envelope, client);
  if (!client.rights || !meta) return shown;
  const { kind } = meta.actor;
  // The service starts the turn behind one that was cancelled, with the cause of the cancellation.
  const mayHaveOthers =
    kind === 'client' ? !isBy(meta, client) : kind === 'service' && event.type === 'turn.started';
  return mayHaveOthers ? { ...shown, meta: { ...meta, causationId: NOT_SHOWN } } : shown;
}
