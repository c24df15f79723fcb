import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { clientLimitExceeded } from '../../../src/core/limit-errors.ts';
import { refusalHeaders, WindowLimit } from '../../../src/gateway/security/rate-limits.ts';

const NOW = 1_000_000_000_500;

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

it('counts at once, each key by itself, and says when its window ends', () => {
  const limit = new WindowLimit(2);
  const resetTime = Math.ceil((NOW + 60_000) / 1000);
  expect(limit.take('a')).toEqual({ limit: 2, remaining: 1, resetTime, exceeded: false });
  vi.advanceTimersByTime(30_000);
  expect(limit.take('a')).toEqual({ limit: 2, remaining: 0, resetTime, exceeded: false });
  expect(limit.take('a')).toEqual({ limit: 2, remaining: 0, resetTime, exceeded: true });
  expect(limit.take('b')).toMatchObject({ remaining: 1, exceeded: false });
  expect(limit.refusals).toBe(1);
});

it('begins a new window a minute after the first event, also if the last one was refused', () => {
  const limit = new WindowLimit(1);
  limit.take('a');
  vi.advanceTimersByTime(59_999);
  expect(limit.take('a')).toMatchObject({ exceeded: true });
  vi.advanceTimersByTime(1);
  expect(limit.take('a')).toMatchObject({ exceeded: false });
});

it('keeps nothing of a key that is forgotten, or whose window has ended', () => {
  const limit = new WindowLimit(1);
  limit.take('a');
  limit.forget('a');
  expect(limit.take('a')).toMatchObject({ exceeded: false });
  limit.take('b');
  expect(vi.getTimerCount()).toBe(2);
  vi.advanceTimersByTime(60_000);
  expect(vi.getTimerCount()).toBe(0);
});

it('counts nothing where the limit is off', () => {
  const limit = new WindowLimit(false);
  expect(limit.take('a')).toBeNull();
  expect(vi.getTimerCount()).toBe(0);
});

it.each([
  [
    'requestsPerMinute',
    { 'X-RateLimit-Limit': '9', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '77' },
  ],
  ['requestBodies', {}],
  ['largeSessions', {}],
  ['views', {}],
  ['watchedResources', {}],
])('tells rates in the headers of a refusal, and no amount that is taken at once: %s', (name, headers) => {
  const refusal = clientLimitExceeded({ name, of: 'principal', what: name }, { limit: 9, resetTime: 77 });
  expect(refusalHeaders(refusal)).toEqual(headers);
});
