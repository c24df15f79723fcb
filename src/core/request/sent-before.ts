import { sentKeyId } from '../access/session-keys.ts';
import type { Envelope } from '../log/envelope.ts';
import { IDEMPOTENCY_TTL_MS, isExpired } from './idempotency.ts';
import type { RequestContext } from './request-context.ts';
import type { IdempotencyKey } from './request-events.ts';
import { isBy } from './request-origin.ts';

/**
 * Whether the event records what this client has sent with this key before. A message has its key in the event, as the
 * session stores it. The answer to a tool call and a cancellation have it as the cause of the event.
 */
export function isSentWith(key: IdempotencyKey, context: RequestContext): (envelope: Envelope) => boolean {
  return ({ event, meta, time }) => {
    const id =
      event.type === 'turn.requested' ? event.key && sentKeyId(event.key.id, context) : meta?.causationId;
    if (id !== key.id || !isBy(meta, context)) return false;
    return !isExpired({ ...key, expiresAt: time + IDEMPOTENCY_TTL_MS }, key);
  };
}
