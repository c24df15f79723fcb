import { z } from 'zod';

/* Each config for push notifications has a stream of its own, so that erasing the stream erases the secrets in it. */

/** Somebody wants to be told what becomes of a turn. The first event of the stream. */
export const PushRegistered = z.object({ type: z.literal('push.registered'), sealed: z.string() });

/** The receiver has been told of the session's events up to this seq, or has refused them. */
export const PushDelivered = z.object({ type: z.literal('push.delivered'), upTo: z.int() });
