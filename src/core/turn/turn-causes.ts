import { z } from 'zod';
import { SessionId, TurnId } from '../ids.ts';

/** The event was written before events had causes. */
export const Unrecorded = z.object({ kind: z.literal('unrecorded') });

/** Why a turn was cancelled. */
export const CancellationCause = z.discriminatedUnion('kind', [
  /** A client asked for it. The metadata of the event says which client. */
  z.object({ kind: z.literal('cancelled') }),
  /** A message with `whenBusy: interrupt` took its place. */
  z.object({ kind: z.literal('interrupted'), byTurnId: TurnId }),
  z.object({ kind: z.literal('session-reset') }),
  z.object({ kind: z.literal('session-deleted') }),
  /** This session is a fork, in which the open turns of the original session do not continue. */
  z.object({ kind: z.literal('session-forked'), from: SessionId }),
  /** The log was damaged, and a repair cut the session before the end of the turn. */
  z.object({ kind: z.literal('session-repaired') }),
  Unrecorded,
]);
export type CancellationCause = z.infer<typeof CancellationCause>;

/** Why a turn failed. */
export const FailureCause = z.discriminatedUnion('kind', [
  /** The model or its provider failed, or could not be reached. */
  z.object({ kind: z.literal('model') }),
  /** The reply did not have the form that the client wants, twice. */
  z.object({ kind: z.literal('output'), issue: z.string() }),
  z.object({ kind: z.literal('step-limit'), maxSteps: z.int() }),
  z.object({ kind: z.literal('step-timeout'), stepTimeoutMs: z.int() }),
  Unrecorded,
]);
export type FailureCause = z.infer<typeof FailureCause>;
