// First, because the runtime takes its timers when it is loaded.
import '../support/simulation/simulated-time.ts';
import { describe, expect, it } from 'vitest';
import { runSchedule, type ScheduleKind } from '../support/simulation/schedule.ts';
import type { Mutation } from '../support/simulation/simulated-cluster.ts';

/** Within so many schedules each is found, many times. */
const SCHEDULES = 300;
const TIMEOUT_MS = 600_000;

const FOUND: readonly (readonly [Mutation, RegExp])[] = [
  ['the epoch of an append', /has appended to/],
  ['the fence of a tool call', /had no lease/],
  ['the sequence checks of a resume', /event \d+ came after event \d+|step \d+ began in another/],
];
/** These take clients that do all that clients can do. */
const FOUND_WIDE: readonly (readonly [Mutation, RegExp])[] = [
  ['the look for another session', /of another session|not all is told|began in another|came after/],
  ['the keys of requests', /was done twice|APPROVAL_NOT_FOUND|was refused|acknowledged/],
  // What follows in such a fork has another number than its log expects, and is refused.
  ['the last event of a fork', /is no copy|does not begin at|has no end|was refused/],
];

/** These take clients who use the rest of the service, too. */
const FOUND_FULL: readonly (readonly [Mutation, RegExp])[] = [
  ['the numbers of statecharts', /shows turns: [\w-]+ /],
  ['the tool servers of other nodes', /connected at/],
];

/** The first fault that a schedule shows. */
async function firstFault(mutation: Mutation, kind: ScheduleKind): Promise<string | undefined> {
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    const { faults } = await runSchedule(seed, { kind, mutation });
    if (faults[0] !== undefined) return faults[0];
  }
  return undefined;
}

describe('what a simulation finds', () => {
  it.each(FOUND)('that %s is missing', { timeout: TIMEOUT_MS }, async (mutation, fault) => {
    expect(await firstFault(mutation, 'narrow')).toMatch(fault);
  });

  it.each(FOUND_WIDE)('that %s is missing', { timeout: TIMEOUT_MS }, async (mutation, fault) => {
    expect(await firstFault(mutation, 'wide')).toMatch(fault);
  });

  it.each(FOUND_FULL)('that %s is missing', { timeout: TIMEOUT_MS }, async (mutation, fault) => {
    expect(await firstFault(mutation, 'full')).toMatch(fault);
  });
});

describe('a simulation', () => {
  it.each<[string, ScheduleKind]>([
    ['messages and cancellations', 'narrow'],
    ['all that clients can do to sessions', 'wide'],
    ['all that clients can do', 'full'],
  ])('does the same again for the same seed, step by step, with %s', async (_, kind) => {
    for (const seed of [2, 5, 691, 20_121]) {
      const { trace } = await runSchedule(seed, { kind });
      const again = await runSchedule(seed, { kind });
      expect(again.trace()).toEqual(trace());
      expect(trace().length).toBeGreaterThan(100);
    }
  });
});
