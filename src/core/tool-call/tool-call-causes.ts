import { z } from 'zod';
import { Unrecorded } from '../turn/turn-causes.ts';

const TurnCancelled = z.object({ kind: z.literal('turn-cancelled') });
const TurnFailed = z.object({ kind: z.literal('turn-failed') });

/** Why a tool call failed. */
export const CallFailureCause = z.discriminatedUnion('kind', [
  /** The tool, its server, or the way to it. */
  z.object({ kind: z.literal('tool') }),
  /** It was never begun: there is no such tool, its arguments do not fit, or the agent may not use it. */
  z.object({ kind: z.literal('rejected') }),
  /** Somebody denied it. `note` is what that person gave as the reason. */
  z.object({ kind: z.literal('denied'), note: z.string().optional() }),
  /** Its turn was cancelled, or failed, before somebody had approved the call. */
  TurnCancelled,
  TurnFailed,
  Unrecorded,
]);
export type CallFailureCause = z.infer<typeof CallFailureCause>;

/** Why nobody knows whether a tool call took effect. */
export const InterruptionCause = z.discriminatedUnion('kind', [
  TurnCancelled,
  TurnFailed,
  /** The process ended while the call ran, and the call is not safe to repeat. */
  z.object({ kind: z.literal('service-stopped') }),
  Unrecorded,
]);
export type InterruptionCause = z.infer<typeof InterruptionCause>;
