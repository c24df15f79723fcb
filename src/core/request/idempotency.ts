import { ServiceError } from '../errors.ts';
import { DAY_MS } from '../timeout-ms.ts';
import type { IdempotencyKey } from './request-events.ts';

/** How long a key is remembered. */
export const IDEMPOTENCY_TTL_MS = DAY_MS;

/** Whether `known` had expired when `next` was made. */
export function isExpired(known: IdempotencyKey, next: IdempotencyKey): boolean {
  return known.expiresAt <= next.expiresAt - IDEMPOTENCY_TTL_MS;
}

/** Throws if the key came with another payload before. */
export function requireSamePayload(known: IdempotencyKey, key: IdempotencyKey): void {
  if (known.fingerprint === key.fingerprint) return;
  throw new ServiceError('IDEMPOTENCY_KEY_REUSED', 'The idempotency key belongs to another request.', {
    key: key.id,
    suggestion: 'Use a new key for each new request, and repeat a request unchanged.',
  });
}
