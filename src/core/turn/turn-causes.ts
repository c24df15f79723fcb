import { z } from 'zod';
import { SessionId, TurnId } from '../ids.ts';

/** The log was written before causes were recorded. */
export const Unrecorded = z.object({ kind: z.literal('unrecorded') });

/** What a turn was cancelled for. */
export const CancellationCause = z.discriminatedUnion('kind', [
  /** Somebody asked for it: who, is in the metadata of the event. */
  z.object({ kind: z.literal('cancelled') }),
  /** A message that was sent with `whenBusy: interrupt` took its place. */
  z.object({ kind: z.literal('interrupted'), byTurnId: TurnId }),
  z.object({ kind: z.literal('session-reset') }),
  z.object({ kind: z.literal('session-deleted') }),
  /** The turn was open in the session that this one was forked from, and goes on there alone. */
  z.object({ kind: z.literal('session-forked'), from: SessionId }),
  Unrecorded,
]);
export type CancellationCause = z.infer<typeof CancellationCause>;

/** What a turn failed of. */
export const FailureCause = z.discriminatedUnion('kind', [
  /** The model, its provider, or the way to it. */
  z.object({ kind: z.literal('model') }),
  z.object({ kind: z.literal('step-limit'), maxSteps: z.int() }),
  z.object({ kind: z.literal('step-timeout'), stepTimeoutMs: z.int() }),
  Unrecorded,
]);
export type FailureCause = z.infer<typeof FailureCause>;
