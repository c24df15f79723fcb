import { z } from 'zod';
import { SessionId } from '../ids.ts';
import { IdempotencyKey } from '../request/request-events.ts';

/* Events about a session as a whole. */

/** The conversation was cleared: the model is no longer shown what came before. */
export const SessionReset = z.object({ type: z.literal('session.reset'), key: IdempotencyKey.optional() });

/** A client gave the session a title. Null: the title is derived from the first message again. */
export const SessionRenamed = z.object({ type: z.literal('session.renamed'), title: z.string().nullable() });

/** This session is a fork: its first `at` events are copies of those of the session `from`. */
export const SessionForked = z.object({
  type: z.literal('session.forked'),
  from: SessionId,
  at: z.int().min(1),
});

/** The session is about to be erased. No event follows. */
export const SessionDeleted = z.object({ type: z.literal('session.deleted') });
