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

it('the connections of one credential end together, without those that were closed before or have another one', async () => {
  const credentials = new HeldCredentials(() => expect.unreachable('nobody sends a token'));
  const lost: string[] = [];
  const holder = (name: string) => ({ lose: () => void lost.push(name) });
  const ending = (ms: number) => contextOf({ ...identity('ada'), expiresAt: Date.now() + ms });
  const closed = holder('closed');
  const renewed = holder('renewed');
  const soon = ending(1_000);
  for (const one of [holder('first'), closed, holder('second'), renewed]) credentials.hold(one, soon);
  credentials.hold(holder('later'), ending(2_000));
  credentials.hold(renewed, ending(3_000));
  credentials.release(closed);
  expect(vi.getTimerCount()).toBe(3);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lost).toEqual(['first', 'second']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lost).toEqual(['first', 'second', 'later']);
  credentials.release(renewed);
  expect(vi.getTimerCount()).toBe(0);
});

it('a connection ends at once whose credential was revoked while its client was authenticated', async () => {
  const credentials = new HeldCredentials(() => expect.unreachable('nobody sends a token'));
  const lost: string[] = [];
  const holder = { lose: ({ message }: Error) => void lost.push(message) };
  credentials.revoke('credential-of-ada');
  credentials.hold(holder, contextOf(identity('ada')));
  credentials.hold({ lose: () => void lost.push('of bob') }, contextOf(identity('bob')));
  await Promise.resolve();
  expect(lost).toEqual(['The credential was revoked.']);
});
