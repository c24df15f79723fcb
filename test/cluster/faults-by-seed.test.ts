import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, it } from 'vitest';
import { Cluster } from '../support/cluster/cluster.ts';
import { clusterAgent } from '../support/cluster/cluster-agent.ts';
import { checkCluster } from '../support/cluster/cluster-checks.ts';
import { ClusterEngines } from '../support/cluster/cluster-engines.ts';
import { ClusterWorkload } from '../support/cluster/cluster-workload.ts';
import { faultBy } from '../support/cluster/faults.ts';
import { seededRandom } from '../support/project/seeded-random.ts';
import { tempDirectory } from '../support/service/temp-directory.ts';

const ROUNDS = Number(process.env.CLUSTER_ROUNDS ?? 10);
const SEED = Number(process.env.CLUSTER_SEED ?? 20_251_123);
/** Clusters side by side, each with engines of its own: most of a round is waiting. */
const LANES = Number(process.env.CLUSTER_LANES ?? 1);
/** After so many rounds everything is checked, and new clients begin with new sessions: a check reads all that they were told. */
const CHAPTER_ROUNDS = 100;
/** Most time between two faults. */
const CALM_MS = 700;
/** Frames that clients must get before the next fault. */
const PROGRESS = 100;
const A_MINUTE_MS = 60_000;

/** @param schedule is told each fault before it happens, by its round. */
async function surviveAll(schedule: string[]): Promise<void> {
  const chapters = Array.from(
    { length: Math.ceil(ROUNDS / CHAPTER_ROUNDS) },
    (_, chapter) => chapter * CHAPTER_ROUNDS,
  );
  // The lanes take their chapters from one iterator.
  const waiting = chapters.values();
  const lanes = Array.from({ length: LANES }, () => surviveChapters(waiting, schedule));
  // Each ends its own processes before the first failure ends the test.
  await Promise.allSettled(lanes);
  await Promise.all(lanes);
}

async function surviveChapters(waiting: IterableIterator<number>, schedule: string[]): Promise<void> {
  await using engines = await ClusterEngines.start();
  try {
    for (const first of waiting)
      await survive(engines, first, Math.min(ROUNDS, first + CHAPTER_ROUNDS), schedule);
  } catch (cause) {
    // No next chapter for the others.
    Array.from(waiting);
    throw cause;
  }
}

/** Survives the rounds from the first one to the one before the last. */
async function survive(
  engines: ClusterEngines,
  first: number,
  last: number,
  schedule: string[],
): Promise<void> {
  await using ledger = await tempDirectory();
  // The clock of one node is wrong all the time.
  const clockShiftsMs = [0, 0, A_MINUTE_MS];
  const agent = clusterAgent(ledger.path);
  const seed = SEED + first;
  await using cluster = await Cluster.start({ engines, agent, clockShiftsMs, seed });
  using workload = new ClusterWorkload(cluster, seed);
  for (let round = first; round < last; round += 1) {
    // Of its own, so that a round does not depend on how long the rounds before it took.
    const random = seededRandom(SEED + 1_000 * round);
    const fault = faultBy(cluster, random);
    const calmMs = random() * CALM_MS;
    schedule[round] = fault.name;
    await workload.during(delay(calmMs));
    await workload.during(fault.happen());
    await workload.during(cluster.recovered());
    await workload.during(workload.traffic.frames(PROGRESS));
  }
  await workload.end();
  await checkCluster(cluster, workload, ledger.path);
}

describe('three nodes on which faults come at random', () => {
  const title = `lose nothing, double nothing and tell the same (CLUSTER_SEED=${SEED} CLUSTER_ROUNDS=${ROUNDS})`;
  // A seed that fails has found something.
  it(title, { timeout: 90_000 + ROUNDS * 20_000, retry: 0 }, async () => {
    const schedule: string[] = [];
    // All connections of the nodes go through this process, so that they stand still with it.
    const pauses = monitorEventLoopDelay();
    pauses.enable();
    try {
      await surviveAll(schedule);
    } catch (cause) {
      const pause = `the longest pause of the test itself: ${Math.round(pauses.max / 1e6)} ms`;
      const told = schedule.map((name, round) => `  ${round}. ${name}`).join('\n');
      throw new Error(
        `failed with CLUSTER_SEED=${SEED} CLUSTER_ROUNDS=${ROUNDS} CLUSTER_LANES=${LANES} (${pause}):\n${told}`,
        { cause },
      );
    }
  });
});
