import type { FailureCause } from './turn-causes.ts';

/** The limits that end a turn. */
export type TurnLimit = 'step-limit' | 'step-timeout';

export interface TurnLimits {
  /** Most model calls in one turn. Even if they are used up, the model is asked to correct its reply, once. */
  readonly maxSteps: number;
  /** Longest time for one model call, in milliseconds. */
  readonly stepTimeoutMs: number;
}

export type LimitCause = Extract<FailureCause, { kind: TurnLimit }>;

export function limitCause(kind: TurnLimit, { maxSteps, stepTimeoutMs }: TurnLimits): LimitCause {
  return kind === 'step-limit' ? { kind, maxSteps } : { kind, stepTimeoutMs };
}

/**
 * The sentence that tells people which limit it was. A replay compares it with the recorded one.
 * @param calls how many model calls the turn has had.
 */
export function failureReason(cause: LimitCause, calls: number): string {
  switch (cause.kind) {
    case 'step-limit': {
      const limit = calls === cause.maxSteps ? 'which is the limit' : `and the limit is ${cause.maxSteps}`;
      return `the model still asked for tools after ${calls} model calls, ${limit} (llm.maxSteps)`;
    }
    case 'step-timeout':
      return `one model call took longer than ${cause.stepTimeoutMs} ms, which is the limit (llm.stepTimeoutMs)`;
    default:
      return cause satisfies never;
  }
}
