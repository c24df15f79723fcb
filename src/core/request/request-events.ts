import { z } from 'zod';
import { ErrorBody } from '../errors.ts';

/** What a client may send to say that two messages are the same one. Forgotten after `expiresAt` (ms since the epoch). */
export const IdempotencyKey = z.object({ id: z.string(), fingerprint: z.string(), expiresAt: z.int() });
export type IdempotencyKey = z.infer<typeof IdempotencyKey>;

/* Facts of one request that came with an idempotency key, in a stream of its own: begun, then how it ended. */

/** It is about to be done. `repeatable`: doing it twice does no more than doing it once. */
export const RequestBegun = z.object({
  type: z.literal('request.begun'),
  key: IdempotencyKey,
  repeatable: z.boolean(),
});

/** `answer` is what its handler gave, if anything; it goes through that one's schema when it is read. */
export const RequestAnswered = z.object({
  type: z.literal('request.answered'),
  answer: z.unknown().optional(),
});

/** It was tried. A request that was refused before anything was done leaves no trace instead. */
export const RequestFailed = z.object({ type: z.literal('request.failed'), error: ErrorBody });
