import { z } from 'zod';
import { SessionId } from '../ids.ts';
import { IdempotencyKey } from '../request/request-events.ts';

/* The facts of a session as a whole. */

/** The conversation starts over: what came before is no longer shown to the model. */
export const SessionReset = z.object({ type: z.literal('session.reset'), key: IdempotencyKey.optional() });

/** This session began as a copy of another one's events up to `at`. Its own follow. */
export const SessionForked = z.object({
  type: z.literal('session.forked'),
  from: SessionId,
  at: z.int().min(1),
});

/** The session is to be erased; nothing follows. */
export const SessionDeleted = z.object({ type: z.literal('session.deleted') });
