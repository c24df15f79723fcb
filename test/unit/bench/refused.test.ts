import { describe, expect, it } from 'vitest';
import { Refused, reasonOf } from '../../../bench/load/refused.ts';
import { Unanswered, within } from '../../../bench/load/within.ts';

describe('a refusal, as the load tells it', () => {
  it.each([
    [
      'RATE_LIMIT_EXCEEDED',
      {},
      'RATE_LIMIT_EXCEEDED: no Raise or switch off `limits` in its agent file.',
      false,
    ],
    ['AGENT_ERROR', { reason: 'The key is wrong.' }, 'AGENT_ERROR: no The key is wrong.', false],
    ['SERVICE_UNAVAILABLE', {}, 'SERVICE_UNAVAILABLE: no', true],
  ])(
    'has the reason of %s and what to do, and says whether it passes',
    (code, details, message, isTemporary) => {
      const body = JSON.stringify({ success: false, error: { code, message: 'no', details } });
      expect(Refused.byResponse(500, body)).toMatchObject({ message, isTemporary });
      expect(Refused.byError({ code, message: 'no', details })).toMatchObject({ message, isTemporary });
    },
  );

  it('is the status where the answer is not from the service', () => {
    expect(Refused.byResponse(502, '<html>')).toMatchObject({ message: 'HTTP 502', isTemporary: false });
  });
});

describe('the reason of an error', () => {
  it('is what made fetch fail, and of several addresses the first', () => {
    const cause = new AggregateError([new Error('connect ECONNREFUSED ::1'), new Error('other')]);
    expect(reasonOf(new TypeError('fetch failed', { cause }))).toBe('fetch failed: connect ECONNREFUSED ::1');
  });
});

describe('work that is waited for', () => {
  it('is given up when it takes too long, and is told', async () => {
    let late: AbortSignal | undefined;
    const never = within(0.01, (signal) => {
      late = signal;
      return new Promise<never>(() => undefined);
    });
    await expect(never).rejects.toThrow(new Unanswered('no answer within 0.01 s'));
    expect(late?.aborted).toBe(true);
  });
});
