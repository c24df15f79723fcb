import { z } from 'zod';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import type { HttpRequest } from '../../ports/web-server.ts';
import { IdempotencyKeyId } from '../../wire/requests.ts';
import { idempotencyKey } from '../requests/idempotency-key.ts';
import { parseFields } from '../requests/request-fields.ts';

const KeyHeader = z.object({ 'Idempotency-Key': IdempotencyKeyId });

/** The key in the `Idempotency-Key` header, if the request has one. */
export function keyOfRequest(
  { headers }: HttpRequest,
  payload: unknown,
): Promise<IdempotencyKey> | undefined {
  const id = headers.get('idempotency-key');
  if (id === undefined) return undefined;
  const { 'Idempotency-Key': checked } = parseFields(KeyHeader, { 'Idempotency-Key': id });
  return idempotencyKey(checked, payload);
}
