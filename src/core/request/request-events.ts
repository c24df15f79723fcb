import { z } from 'zod';
import { ErrorBody } from '../errors.ts';

/**
 * Requests with the same key are one request. `id` is what the client sent. `fingerprint` is the hash of the payload,
 * which must be the same as well. The key is forgotten after `expiresAt`, in milliseconds since the epoch.
 */
export const IdempotencyKey = z.object({ id: z.string(), fingerprint: z.string(), expiresAt: z.int() });
export type IdempotencyKey = z.infer<typeof IdempotencyKey>;

/* Events of a request that starts no turn and has an idempotency key. Each such request has a stream of its own. */

/**
 * The request is about to be executed. `repeatable`: executing it twice has the same effect as once. `node`: the node of a
 * cluster that executes it; nobody does any more when that node is gone. Missing without a cluster, and in older logs.
 */
export const RequestBegun = z.object({
  type: z.literal('request.begun'),
  key: IdempotencyKey,
  repeatable: z.boolean(),
  node: z.int().optional(),
});

/** The request succeeded. `answer` is what its handler returned. It is parsed when it is read. */
export const RequestAnswered = z.object({
  type: z.literal('request.answered'),
  answer: z.unknown().optional(),
});

/** The request was executed and failed. If it was refused before it did anything, its stream is erased instead. */
export const RequestFailed = z.object({ type: z.literal('request.failed'), error: ErrorBody });
