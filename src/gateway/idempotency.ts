import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { IdempotencyKey } from '../contract/events.ts';
import { IdempotencyKeyId } from '../contract/requests.ts';
import { IDEMPOTENCY_TTL_MS } from '../domain/session-state.ts';
import type { HttpRequest } from './http-message.ts';
import { parseFields } from './request-body.ts';

/** @param payload what must be the same when the key is the same; objects with their fields in one order. */
export function idempotencyKey(id: string, payload: unknown): IdempotencyKey {
  const fingerprint = createHash('sha256').update(JSON.stringify(payload)).digest('base64url');
  return { id, fingerprint, expiresAt: Date.now() + IDEMPOTENCY_TTL_MS };
}

/** The key in the `Idempotency-Key` header, if there is one. */
export function keyOfRequest({ headers }: HttpRequest, payload: unknown): IdempotencyKey | undefined {
  const id = headers.get('idempotency-key');
  if (id === undefined) return undefined;
  const { 'Idempotency-Key': checked } = parseFields(z.object({ 'Idempotency-Key': IdempotencyKeyId }), {
    'Idempotency-Key': id,
  });
  return idempotencyKey(checked, payload);
}
