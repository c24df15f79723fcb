import { getEventListeners } from 'node:events';
import { afterEach, expect, it, vi } from 'vitest';
import { waitWithin } from '../../../src/client/wait-limits.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('what is over at once leaves no timer and no listener', async () => {
  vi.useFakeTimers();
  const { signal } = new AbortController();
  await waitWithin<string>({ timeoutMs: 60_000, signal }, (resolve) => {
    resolve('done');
    return () => undefined;
  });
  expect([vi.getTimerCount(), getEventListeners(signal, 'abort')]).toEqual([0, []]);
});

it('what is refused at once leaves no timer and no listener', async () => {
  vi.useFakeTimers();
  const { signal } = new AbortController();
  const refused = waitWithin({ timeoutMs: 60_000, signal }, () => {
    throw new Error('closed');
  });
  await expect(refused).rejects.toThrow('closed');
  expect([vi.getTimerCount(), getEventListeners(signal, 'abort')]).toEqual([0, []]);
});
