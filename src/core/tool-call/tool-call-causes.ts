import { z } from 'zod';
import { Unrecorded } from '../turn/turn-causes.ts';

const TurnCancelled = z.object({ kind: z.literal('turn-cancelled') });
const TurnFailed = z.object({ kind: z.literal('turn-failed') });

/** Why a tool call failed. */
export const CallFailureCause = z.discriminatedUnion('kind', [
  /** The tool or its server failed, or could not be reached. */
  z.object({ kind: z.literal('tool') }),
  /** The call never started: there is no such tool, the arguments are wrong, or the agent may not use the tool. */
  z.object({ kind: z.literal('rejected') }),
  /** Somebody denied the call. `note` is the reason that this person gave. */
  z.object({ kind: z.literal('denied'), note: z.string().optional() }),
  /** Nobody approved or denied the call in time. */
  z.object({ kind: z.literal('approval-expired'), afterMs: z.int().min(1) }),
  /** The client that lent the tool did not say in time what came of the call. */
  z.object({ kind: z.literal('client-expired'), afterMs: z.int().min(1) }),
  /** The turn was cancelled, or failed, before anybody approved the call. */
  TurnCancelled,
  TurnFailed,
  Unrecorded,
]);
export type CallFailureCause = z.infer<typeof CallFailureCause>;

/** Why a running tool call was given up. Nobody knows whether such a call took effect. */
export const InterruptionCause = z.discriminatedUnion('kind', [
  TurnCancelled,
  TurnFailed,
  /** The process ended while the call ran, and the call is not safe to repeat. */
  z.object({ kind: z.literal('service-stopped') }),
  Unrecorded,
]);
export type InterruptionCause = z.infer<typeof InterruptionCause>;
