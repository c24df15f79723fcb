import { describe, expect, it } from 'vitest';
import { failureReason, limitNamedIn } from '../../src/core/turn/turn-limits.ts';

describe('the reason of a turn that ran into a limit', () => {
  it.each([
    ['step-limit', 25, { maxSteps: 25, stepTimeoutMs: 600_000 }],
    ['step-timeout', 600_000, { maxSteps: 25, stepTimeoutMs: 600_000 }],
  ] as const)('tells which one it was: %s, %d', (failure, limit, limits) => {
    expect(limitNamedIn(failureReason(failure, limits))).toEqual({ failure, limit });
  });

  it('is no other reason, whatever number that has', () => {
    expect(limitNamedIn('the provider answered 429')).toBeUndefined();
    expect(limitNamedIn(undefined)).toBeUndefined();
  });
});
