import { z } from 'zod';
import { SessionId } from '../ids.ts';

/* What clients are told of a session that they have changed. */

/** The title of a session after it was renamed; null if it has neither a name nor a message. */
export const Renamed = z.object({ title: z.string().nullable() });
export type Renamed = z.infer<typeof Renamed>;

/** A session that began with the first `at` events of another one; `head` is the seq of its last event. */
export const Fork = z.object({ sessionId: SessionId, at: z.int(), head: z.int() });
export type Fork = z.infer<typeof Fork>;
