import { contentHash } from '../../core/content-hash.ts';
import { ServiceError } from '../../core/errors.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import { idempotencyKey } from '../requests/idempotency-key.ts';
import type { RunInput } from './run-input.ts';

/** What a run does is done once. Its id may have any characters. @param payload must be the same when the run is. */
export async function runKey({ runId }: RunInput, payload: unknown): Promise<IdempotencyKey> {
  return idempotencyKey(`ag-ui:${(await contentHash(runId)).slice(0, 32)}`, payload);
}

/** An error as the client of the run gets it, which knows no key. */
export function asRunError(error: unknown, { runId }: RunInput): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'IDEMPOTENCY_KEY_REUSED') return error;
  const message = 'The run was asked for with another message or other answers.';
  return new ServiceError('IDEMPOTENCY_KEY_REUSED', message, {
    field: 'runId',
    key: runId,
    suggestion: 'Give each new run an id of its own.',
  });
}
