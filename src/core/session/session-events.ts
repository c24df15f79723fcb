import { z } from 'zod';
import { GivenMessage } from '../conversation/given-message.ts';
import { SessionId } from '../ids.ts';
import { IdempotencyKey } from '../request/request-events.ts';
import { SessionMetadata } from './session-metadata.ts';

/* Events about a session as a whole. */

/** The conversation was cleared: the model is no longer shown what came before. */
export const SessionReset = z.object({ type: z.literal('session.reset'), key: IdempotencyKey.optional() });

/** A client gave the session a title. Null: the title is derived from the first message again. */
export const SessionRenamed = z.object({ type: z.literal('session.renamed'), title: z.string().nullable() });

/** A client noted something about the session, in place of what was noted before. */
export const SessionDescribed = z.object({
  type: z.literal('session.described'),
  metadata: SessionMetadata,
});

/** A client added messages to the conversation, and wants no reply to them. */
export const SessionExtended = z.object({
  type: z.literal('session.extended'),
  given: z.array(GivenMessage),
});

/** This session is a fork: its first `at` events are copies of those of the session `from`. */
export const SessionForked = z.object({
  type: z.literal('session.forked'),
  from: SessionId,
  at: z.int().min(1),
  /** The fork was made for one turn, and is deleted with it. If the turn never begins, it is deleted as well. */
  ephemeral: z.literal(true).optional(),
});

/** The session is about to be erased. No event follows. */
export const SessionDeleted = z.object({ type: z.literal('session.deleted') });
