import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { contextOf } from '../../../src/core/request/request-context.ts';
import { HeldCredentials } from '../../../src/gateway/security/held-credentials.ts';
import { identity } from '../../support/access/known-tokens.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const DAY_MS = 24 * 60 * 60_000;

it.each([20, 30, 90])('a connection ends when its credential of %i days does', async (days) => {
  const credentials = new HeldCredentials(() => expect.unreachable('nobody sends a token'));
  const lost: string[] = [];
  const holder = { lose: ({ message }: Error) => void lost.push(message) };
  const expiresAt = Date.now() + days * DAY_MS;
  credentials.hold(holder, contextOf({ ...identity('ada'), expiresAt }));
  await vi.advanceTimersByTimeAsync(days * DAY_MS - 1);
  expect(lost).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(lost).toEqual(['The credential has expired.']);
  expect(vi.getTimerCount()).toBe(0);
});
