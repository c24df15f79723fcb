import { setImmediate as nextLoop } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { SimulatedClock } from 'xstate';
import { reconnectDelayMs } from '../../../src/client/reconnect-delay.ts';
import { FaultRecovery } from '../../../src/runtime/sessions/fault-recovery.ts';
import { retryDelayMs } from '../../../src/timing/retry-delay.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const LEAST = 0;
/** Of the numbers that `Math.random` gives. */
const MOST = 1 - 2 ** -53;
const MANY = [1_000, 1_000_000];

describe('the wait before a failed server is tried again', () => {
  const series = [1, 2, 3, 4, 5, 6, 7, ...MANY];

  it('doubles up to 30 seconds where chance adds the most', () => {
    const waits = series.map((failures) => Math.round(retryDelayMs(failures, () => MOST)));
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000]);
  });

  it('is half of that where it adds the least', () => {
    const waits = series.map((failures) => retryDelayMs(failures, () => LEAST));
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000, 15_000]);
  });

  it('is a matter of chance in between', () => {
    expect(retryDelayMs(1, () => 0.5)).toBe(750);
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
    expect(retryDelayMs(2)).toBe(1_500);
    random.mockRestore();
  });
});

describe('the wait of the client before it connects again', () => {
  const series = [0, 1, 2, 3, 4, 5, 6, ...MANY];

  it('doubles up to ten seconds, and half of it is by chance', () => {
    const longest = series.map((failures) => Math.round(reconnectDelayMs(failures, MOST)));
    expect(longest).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]);
    const shortest = series.map((failures) => reconnectDelayMs(failures, LEAST));
    expect(shortest).toEqual([125, 250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000]);
  });
});

describe('a session that could not be loaded again', () => {
  it('is tried after the same waits, and after a success from the first one on', async () => {
    const clock = new SimulatedClock();
    const random = vi.spyOn(Math, 'random').mockReturnValue(LEAST);
    const tried: number[] = [];
    let fails = true;
    const load = async () => {
      tried.push(clock.now());
      if (fails) throw new Error('still no space');
    };
    const recovery = new FaultRecovery({ load, log: recordingLog(), clock });
    /** Moves on to the next try, which has to come then and not a moment before. */
    const expectTryAfter = async (ms: number) => {
      const { length } = tried;
      clock.increment(ms - 1);
      expect(tried).toHaveLength(length);
      clock.increment(1);
      expect(tried).toHaveLength(length + 1);
      // What the try came to is known when the loop has gone round.
      await nextLoop();
    };

    recovery.loadLater('s', { turnId: 't', step: 0, attempt: 1 });
    for (const ms of [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]) await expectTryAfter(ms);
    fails = false;
    await expectTryAfter(15_000);
    recovery.loadLater('s', { turnId: 't', step: 0, attempt: 1 });
    await expectTryAfter(500);
    random.mockRestore();
  });
});
