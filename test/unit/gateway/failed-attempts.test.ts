import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FailedAttempts } from '../../../src/gateway/security/failed-attempts.ts';

/** Refused credentials of one address, and for one key, in a minute. */
const MOST = 20;
const REFUSAL = { code: 'RATE_LIMIT_EXCEEDED' };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const attempts = () => new FailedAttempts(async () => undefined);

it('remembers no more keys of an address than it may guess', async () => {
  const failures = attempts();
  let refusals = 0;
  for (let id = 0; id < 100_000; id += 1)
    await failures.note('10.0.0.1', `key ${id}`).catch(() => {
      refusals += 1;
    });
  expect(refusals).toBe(100_000 - MOST);
  // Each remembered key, and the address, has a timer.
  expect(vi.getTimerCount()).toBe(MOST + 1);
});

it('counts what is guessed for one key from many addresses', async () => {
  const failures = attempts();
  for (let address = 0; address < MOST; address += 1) await failures.note(`10.0.0.${address}`, 'key');
  await expect(failures.note('10.0.1.1', 'key')).rejects.toMatchObject(REFUSAL);
  await failures.note('10.0.1.1', 'another key');
});

it('knows when an address is at its limit, and counts nothing by that', async () => {
  const failures = attempts();
  for (let times = 1; times < MOST; times += 1) await failures.note('10.0.0.1', null);
  for (let times = 0; times < MOST; times += 1) expect(failures.isAtLimit('10.0.0.1')).toBe(false);
  await failures.note('10.0.0.1', null);
  expect(failures.isAtLimit('10.0.0.1')).toBe(true);
  expect(failures.isAtLimit('10.0.0.2')).toBe(false);
  vi.advanceTimersByTime(60_000);
  expect(failures.isAtLimit('10.0.0.1')).toBe(false);
});
