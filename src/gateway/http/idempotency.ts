import { z } from 'zod';
import { contentHash } from '../../core/content-hash.ts';
import { IDEMPOTENCY_TTL_MS } from '../../core/request/idempotency.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import type { HttpRequest } from '../../ports/web-server.ts';
import { IdempotencyKeyId } from '../../wire/requests.ts';
import { parseFields } from './request-body.ts';

/** @param payload what must be the same when the key is the same, whatever the order of its fields. */
export async function idempotencyKey(id: string, payload: unknown): Promise<IdempotencyKey> {
  return { id, fingerprint: await contentHash(payload), expiresAt: Date.now() + IDEMPOTENCY_TTL_MS };
}

/** The key in the `Idempotency-Key` header, if there is one. */
export async function keyOfRequest(
  { headers }: HttpRequest,
  payload: unknown,
): Promise<IdempotencyKey | undefined> {
  const id = headers.get('idempotency-key');
  if (id === undefined) return undefined;
  const { 'Idempotency-Key': checked } = parseFields(z.object({ 'Idempotency-Key': IdempotencyKeyId }), {
    'Idempotency-Key': id,
  });
  return idempotencyKey(checked, payload);
}
