import { describe, expect, it } from 'vitest';
import { failureReason, limitCause } from '../../../src/core/turn/turn-limits.ts';

const limits = { maxSteps: 25, stepTimeoutMs: 600_000 };

describe('the cause of a turn that ran into a limit', () => {
  it('is the limit and its value, and nothing of the other limit', () => {
    expect(limitCause('step-limit', limits)).toStrictEqual({ kind: 'step-limit', maxSteps: 25 });
    expect(limitCause('step-timeout', limits)).toStrictEqual({
      kind: 'step-timeout',
      stepTimeoutMs: 600_000,
    });
  });

  it.each([
    ['step-limit', /after 25 model calls, which is the limit \(llm\.maxSteps\)$/],
    ['step-timeout', /longer than 600000 ms, which is the limit \(llm\.stepTimeoutMs\)$/],
  ] as const)('is told to people with its value and the option that sets it: %s', (kind, sentence) => {
    expect(failureReason(limitCause(kind, limits), 25)).toMatch(sentence);
  });

  it('is told with the number of calls where the limit allows fewer', () => {
    const reason = failureReason(limitCause('step-limit', limits), 26);
    expect(reason).toMatch(/after 26 model calls, and the limit is 25 \(llm\.maxSteps\)$/);
  });
});
