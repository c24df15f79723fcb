import type { InterruptionCause } from '../tool-call/tool-call-causes.ts';
import type { FailureCause } from '../turn/turn-causes.ts';

/*
 * Version 0.1.0 recorded no causes. It wrote these sentences as reasons, and no client could choose them: what a client
 * could choose, the reason of a cancellation, says nothing by itself.
 */

type Kind = Exclude<InterruptionCause['kind'], 'unrecorded'>;

/** Why a call was interrupted that had been begun. */
export const legacyInterruptions: Readonly<Record<string, Kind>> = {
  'the turn was cancelled': 'turn-cancelled',
  'the turn failed': 'turn-failed',
  'the service stopped while it ran': 'service-stopped',
};

/** Why a call failed that still waited for approval. */
export const legacyUnapproved: Readonly<Record<string, Exclude<Kind, 'service-stopped'>>> = {
  'the turn was cancelled before the call was approved': 'turn-cancelled',
  'the turn failed before the call was approved': 'turn-failed',
};

const STEP_LIMIT =
  /^the model still asked for tools after (\d+) model calls, which is the limit \(llm\.maxSteps\)$/;
const STEP_TIMEOUT = /^one model call took longer than (\d+) ms, which is the limit \(llm\.stepTimeoutMs\)$/;

/** Why a turn failed, from `details.reason` of its error. */
export function legacyFailure(reason: unknown): FailureCause {
  const maxSteps = STEP_LIMIT.exec(String(reason))?.[1];
  if (maxSteps !== undefined) return { kind: 'step-limit', maxSteps: Number(maxSteps) };
  const stepTimeoutMs = STEP_TIMEOUT.exec(String(reason))?.[1];
  if (stepTimeoutMs !== undefined) return { kind: 'step-timeout', stepTimeoutMs: Number(stepTimeoutMs) };
  return { kind: 'model' };
}
