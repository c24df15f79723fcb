import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { settlesWithin, within } from '../../../src/timing/deadline.ts';

const never = new Promise<never>(() => undefined);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('within', () => {
  it('gives the result of work that is done in time, and clears its timer', async () => {
    expect(await within(10, Promise.resolve('done'), 'late')).toBe('done');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects as the work does, and clears its timer', async () => {
    await expect(within(10, Promise.reject(new Error('broken')), 'late')).rejects.toThrow('broken');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives the fallback once the time is up', async () => {
    const result = within(10, never, 'late');
    await vi.advanceTimersByTimeAsync(10);
    expect(await result).toBe('late');
  });

  it('rejects with the reason of a signal that aborts first, and clears its timer', async () => {
    const controller = new AbortController();
    const result = within(10, never, 'late', controller.signal);
    controller.abort(new Error('cancelled'));
    await expect(result).rejects.toThrow('cancelled');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects at once when the signal has aborted already', async () => {
    await expect(within(10, never, 'late', AbortSignal.abort(new Error('cancelled')))).rejects.toThrow(
      'cancelled',
    );
  });
});

describe('settlesWithin', () => {
  it('is true when the work resolves or rejects in time', async () => {
    expect(await settlesWithin(10, Promise.resolve())).toBe(true);
    expect(await settlesWithin(10, Promise.reject(new Error('broken')))).toBe(true);
  });

  it('is false once the time is up', async () => {
    const settled = settlesWithin(10, never);
    await vi.advanceTimersByTimeAsync(10);
    expect(await settled).toBe(false);
  });
});
