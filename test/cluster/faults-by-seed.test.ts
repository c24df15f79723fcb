import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
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
/** After so many rounds everything is checked, and new clients begin with new sessions: a check reads all that they were told. */
const CHAPTER_ROUNDS = 100;
/** Most time between two faults. */
const CALM_MS = 700;
/** Frames that clients must get before the next fault. */
const PROGRESS = 100;
const A_MINUTE_MS = 60_000;

let engines: ClusterEngines;
beforeAll(async () => {
  engines = await ClusterEngines.start();
});
afterAll(() => engines[Symbol.asyncDispose]());

/** @param schedule is told each fault before it happens. */
async function surviveAll(schedule: string[]): Promise<void> {
  for (let round = 0; round < ROUNDS; round += CHAPTER_ROUNDS)
    await survive(round, Math.min(ROUNDS, round + CHAPTER_ROUNDS), schedule);
}

/** Survives the rounds from the first one to the one before the last. */
async function survive(first: number, last: number, schedule: string[]): Promise<void> {
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
    schedule.push(fault.name);
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
    try {
      await surviveAll(schedule);
    } catch (cause) {
      const told = schedule.map((name, round) => `  ${round}. ${name}`).join('\n');
      throw new Error(`failed with CLUSTER_SEED=${SEED} CLUSTER_ROUNDS=${ROUNDS}:\n${told}`, { cause });
    }
  });
});
