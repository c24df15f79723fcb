import type { FailureCause } from './turn-causes.ts';

/** The limits that end a turn. */
export type TurnLimit = 'step-limit' | 'step-timeout';

export interface TurnLimits {
  /** Most model calls in one turn. */
  readonly maxSteps: number;
  /** Longest time for one model call, in milliseconds. */
  readonly stepTimeoutMs: number;
}

export type LimitCause = Extract<FailureCause, { kind: TurnLimit }>;

export function limitCause(kind: TurnLimit, { maxSteps, stepTimeoutMs }: TurnLimits): LimitCause {
  return kind === 'step-limit' ? { kind, maxSteps } : { kind, stepTimeoutMs };
}

/** The sentence that tells people which limit it was. */
export function failureReason(cause: LimitCause): string {
  switch (cause.kind) {
    case 'step-limit':
      return `the model still asked for tools after ${cause.maxSteps} model calls, which is the limit (llm.maxSteps)`;
    case 'step-timeout':
      return `one model call took longer than ${cause.stepTimeoutMs} ms, which is the limit (llm.stepTimeoutMs)`;
    default:
      return cause satisfies never;
  }
}
