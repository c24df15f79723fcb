// First, because the runtime takes its timers when it is loaded.
import './simulated-time.ts';
import { runSchedule, type ScheduleKind } from './schedule.ts';

const FIRST = Number(process.env.SIMULATION_SEED ?? 1);
const COUNT = Number(process.env.SIMULATION_SCHEDULES ?? 10_000);
/** Of so many seeds, the clients of one do all that they can. It is odd, so that both halves have some of them. */
const WIDE_EVERY = Number(process.env.SIMULATION_WIDE_EVERY ?? 15);

/** Of so many wide schedules, one is full. */
const FULL_EVERY = 2;

/** What the tests of all schedules are called. */
export const TITLE = `keep all promises (SIMULATION_SEED=${FIRST} SIMULATION_SCHEDULES=${COUNT} SIMULATION_WIDE_EVERY=${WIDE_EVERY})`;
/** Far more than a slow machine needs. */
export const TIMEOUT_MS = 60_000 + COUNT * 200;

/** Every second seed, so that two processes share the work. Rejects at the first fault, with all that led to it. */
export async function runHalf(half: 0 | 1): Promise<void> {
  for (let seed = FIRST + half; seed < FIRST + COUNT; seed += 2) {
    const { faults, trace } = await runSchedule(seed, { kind: kindOf(seed) });
    if (faults.length > 0)
      throw new Error(
        [
          ...trace(),
          ...faults,
          `It fails again with SIMULATION_SEED=${seed} SIMULATION_SCHEDULES=1 SIMULATION_WIDE_EVERY=${WIDE_EVERY}, after the steps above.`,
        ].join('\n'),
      );
  }
}

function kindOf(seed: number): ScheduleKind {
  if (seed % WIDE_EVERY !== 0) return 'narrow';
  return (seed / WIDE_EVERY) % FULL_EVERY === 0 ? 'full' : 'wide';
}
