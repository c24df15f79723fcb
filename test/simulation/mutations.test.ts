// First, because the runtime takes its timers when it is loaded.
import '../support/simulation/simulated-time.ts';
import { describe, expect, it } from 'vitest';
import { runSchedule } from '../support/simulation/schedule.ts';
import type { Mutation } from '../support/simulation/simulated-cluster.ts';

/** Within so many schedules each is found, many times. */
const SCHEDULES = 300;
const TIMEOUT_MS = 600_000;

const FOUND: readonly (readonly [Mutation, RegExp])[] = [
  ['the epoch of an append', /has appended to/],
  ['the fence of a tool call', /had no lease/],
  ['the sequence checks of a resume', /event \d+ came after event \d+|step \d+ began in another/],
];

/** The first fault that a schedule shows. */
async function firstFault(mutation: Mutation): Promise<string | undefined> {
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    const { faults } = await runSchedule(seed, mutation);
    if (faults[0] !== undefined) return faults[0];
  }
  return undefined;
}

describe('what a simulation finds', () => {
  it.each(FOUND)('that %s is missing', { timeout: TIMEOUT_MS }, async (mutation, fault) => {
    expect(await firstFault(mutation)).toMatch(fault);
  });
});

describe('a simulation', () => {
  it('does the same again for the same seed, step by step', async () => {
    for (const seed of [2, 5, 691, 20_121]) {
      const { trace } = await runSchedule(seed);
      const again = await runSchedule(seed);
      expect(again.trace()).toEqual(trace());
      expect(trace().length).toBeGreaterThan(100);
    }
  });
});
