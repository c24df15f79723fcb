// First, because the runtime takes its timers when it is loaded.
import './simulated-time.ts';
import { runSchedule } from './schedule.ts';

const FIRST = Number(process.env.SIMULATION_SEED ?? 1);
const COUNT = Number(process.env.SIMULATION_SCHEDULES ?? 10_000);

/** What the tests of all schedules are called. */
export const TITLE = `keep all promises (SIMULATION_SEED=${FIRST} SIMULATION_SCHEDULES=${COUNT})`;
/** Far more than a slow machine needs. */
export const TIMEOUT_MS = 60_000 + COUNT * 200;

/** Every second seed, so that two processes share the work. Rejects at the first fault, with all that led to it. */
export async function runHalf(half: 0 | 1): Promise<void> {
  for (let seed = FIRST + half; seed < FIRST + COUNT; seed += 2) {
    const { faults, trace } = await runSchedule(seed);
    if (faults.length > 0)
      throw new Error(
        [
          ...trace(),
          ...faults,
          `It fails again with SIMULATION_SEED=${seed} SIMULATION_SCHEDULES=1, after the steps above.`,
        ].join('\n'),
      );
  }
}
