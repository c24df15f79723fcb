import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../../src/console/service/api-error.ts';
import { type Ask, Refresher } from '../../../src/console/service/refresher.ts';

const LIMITED = { code: 'RATE_LIMIT_EXCEEDED', message: 'Limit exceeded.', details: {} };

/** A refresher whose questions the test answers. */
function rig({ requests = 1 } = {}) {
  const asked: (PromiseWithResolvers<void> & { readonly signal: AbortSignal })[] = [];
  const ask: Ask = (signal) => {
    const answer = { ...Promise.withResolvers<void>(), signal };
    asked.push(answer);
    return answer.promise;
  };
  return { asked, refresher: new Refresher(ask, () => requests) };
}

describe('a refresher', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('asks once for several changes, and again for those that come before the answer', async () => {
    const { asked, refresher } = rig();
    refresher.want();
    refresher.want();
    await vi.advanceTimersByTimeAsync(200);
    expect(asked).toHaveLength(1);
    refresher.want();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(1);
    asked[0]?.resolve();
    await vi.advanceTimersByTimeAsync(200);
    expect(asked).toHaveLength(2);
  });

  it.each([
    [1, 3_000],
    [5, 15_000],
  ])('makes at most twenty requests a minute: %d at once', async (requests, intervalMs) => {
    const { asked, refresher } = rig({ requests });
    refresher.now();
    asked[0]?.resolve();
    await vi.advanceTimersByTimeAsync(0);
    refresher.want();
    await vi.advanceTimersByTimeAsync(intervalMs - 1);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked).toHaveLength(2);
  });

  it('asks again by itself after a refusal that may pass', async () => {
    const { asked, refresher } = rig();
    refresher.now();
    asked[0]?.reject(new ApiError(LIMITED));
    await vi.advanceTimersByTimeAsync(250);
    expect(asked).toHaveLength(2);
    // The clock of the service is an hour ahead.
    const details = { resetTime: Date.now() / 1_000 + 3_640, retryAfter: 40 };
    asked[1]?.reject(new ApiError({ ...LIMITED, details }));
    await vi.advanceTimersByTimeAsync(39_000);
    refresher.want();
    expect(asked).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(asked).toHaveLength(3);
    asked[2]?.resolve();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(3);
  });

  it('does not repeat what is refused for good', async () => {
    const { asked, refresher } = rig();
    refresher.now();
    asked[0]?.reject(new ApiError({ ...LIMITED, code: 'INVALID_REQUEST' }));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(1);
  });

  it('gives an earlier question up when it asks at once, and all when it is closed', async () => {
    const { asked, refresher } = rig();
    refresher.now();
    refresher.now();
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    asked[0]?.reject(new ApiError(LIMITED));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(2);
    asked[1]?.reject(new ApiError(LIMITED));
    await vi.advanceTimersByTimeAsync(0);
    refresher.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(2);
  });
});
