/** Why a turn fails that neither the model nor anybody else has ended. */
export type TurnFailure = 'step-limit' | 'step-timeout';

export interface TurnLimits {
  /** Model calls in one turn. */
  readonly maxSteps: number;
  /** Longest time for one of them. */
  readonly stepTimeoutMs: number;
}

export function failureReason(failure: TurnFailure, { maxSteps, stepTimeoutMs }: TurnLimits): string {
  switch (failure) {
    case 'step-limit':
      return `the model still asked for tools after ${maxSteps} model calls, which is the limit (llm.maxSteps)`;
    case 'step-timeout':
      return `one model call took longer than ${stepTimeoutMs} ms, which is the limit (llm.stepTimeoutMs)`;
    default:
      return failure satisfies never;
  }
}

const failures: readonly TurnFailure[] = ['step-limit', 'step-timeout'];

/** Which limit a recorded reason names, and its value at that time. */
export function limitNamedIn(reason: unknown): { failure: TurnFailure; limit: number } | undefined {
  const limit = Number(/\d+/.exec(String(reason))?.[0]);
  const failure = failures.find(
    (one) => failureReason(one, { maxSteps: limit, stepTimeoutMs: limit }) === reason,
  );
  return failure && { failure, limit };
}
