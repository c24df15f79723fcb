import { contentHash } from '../../core/content-hash.ts';
import { IDEMPOTENCY_TTL_MS } from '../../core/request/idempotency.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';

/** @param payload must be the same when the key is the same; the order of its fields does not matter. */
export async function idempotencyKey(id: string, payload: unknown): Promise<IdempotencyKey> {
  return { id, fingerprint: await contentHash(payload), expiresAt: Date.now() + IDEMPOTENCY_TTL_MS };
}
