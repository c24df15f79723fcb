import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import type { ClusterNode } from './cluster-node.ts';
import type { Direction } from './partitioned-link.ts';

/** Something that goes wrong for a while. */
export interface Fault {
  /** With all its numbers, for whoever wants to see it again. */
  readonly name: string;
  /** Resolves when nothing is wrong any more, but for nodes that have ended. */
  readonly happen: () => Promise<void>;
}

type MakeFault = (cluster: Cluster, random: () => number) => Fault;

/** Longer than a lease. */
const LONG_PAUSE_MS = 2_600;

const faults: readonly MakeFault[] = [
  (cluster, random) => {
    const [node, awayMs] = [nodeBy(cluster, random), msBy(random, 3_000)];
    return {
      name: `node ${node.number} is killed and starts again after ${awayMs} ms`,
      happen: async () => {
        await cluster.kill(node.number, 'SIGKILL');
        await delay(awayMs);
      },
    };
  },
  (cluster, random) => {
    const first = nodeBy(cluster, random);
    return {
      name: `all nodes but ${first.number} are killed`,
      happen: async () => {
        const others = cluster.nodes.filter((node) => node !== first);
        await Promise.all(others.map(({ number }) => cluster.kill(number, 'SIGKILL')));
      },
    };
  },
  (cluster, random) => {
    const node = nodeBy(cluster, random);
    return {
      name: `node ${node.number} is stopped`,
      happen: async () => {
        await cluster.kill(node.number, 'SIGTERM');
      },
    };
  },
  (cluster, random) => {
    const [node, ms] = [nodeBy(cluster, random), msBy(random, 1_500)];
    return { name: `node ${node.number} is paused for ${ms} ms`, happen: () => paused(cluster, node, ms) };
  },
  (cluster, random) => {
    const [node, ms] = [nodeBy(cluster, random), LONG_PAUSE_MS + msBy(random, 1_500)];
    return { name: `node ${node.number} is paused for ${ms} ms`, happen: () => paused(cluster, node, ms) };
  },
  (cluster, random) => {
    const [node, ms] = [nodeBy(cluster, random), msBy(random, 4_000)];
    return {
      name: `node ${node.number} is cut from the database for ${ms} ms`,
      happen: async () => {
        await node.database.cut();
        await delay(ms);
        await node.database.heal();
      },
    };
  },
  (cluster, random) => {
    const [node, directions, ms] = [nodeBy(cluster, random), directionsBy(random), msBy(random, 5_000)];
    return {
      name: `nothing goes ${directions.join(' and ')} between node ${node.number} and the database for ${ms} ms`,
      happen: async () => {
        node.database.stall(...directions);
        await delay(ms);
        await node.database.heal();
      },
    };
  },
  (cluster, random) => {
    const [node, ms] = [nodeBy(cluster, random), msBy(random, 5_000)];
    return {
      name: `node ${node.number} is cut from the bus for ${ms} ms`,
      happen: async () => {
        await node.bus.cut();
        await delay(ms);
        await node.bus.heal();
      },
    };
  },
  (cluster, random) => {
    const [node, directions, ms] = [nodeBy(cluster, random), directionsBy(random), msBy(random, 6_000)];
    return {
      name: `nothing goes ${directions.join(' and ')} between node ${node.number} and the bus for ${ms} ms`,
      happen: async () => {
        node.bus.stall(...directions);
        await delay(ms);
        await node.bus.heal();
      },
    };
  },
  (cluster, random) => {
    const [signal, ms] = [random() < 0.5 ? ('SIGINT' as const) : ('SIGQUIT' as const), msBy(random, 2_500)];
    return {
      name: `the database ends by ${signal} and starts again after ${ms} ms`,
      happen: async () => {
        await cluster.engines.postgres.end(signal);
        await delay(ms);
        await cluster.engines.postgres.run();
      },
    };
  },
  (cluster, random) => {
    const ms = msBy(random, 3_000);
    return {
      name: `the bus ends and starts again after ${ms} ms`,
      happen: async () => {
        await cluster.engines.nats.end();
        await delay(ms);
        await cluster.engines.nats.run();
      },
    };
  },
];

/** One of all faults, at random. */
export function faultBy(cluster: Cluster, random: () => number): Fault {
  const make = faults[Math.floor(random() * faults.length)];
  if (!make) throw new Error('there are no faults');
  return make(cluster, random);
}

async function paused(cluster: Cluster, node: ClusterNode, ms: number): Promise<void> {
  cluster.pause(node.number);
  await delay(ms);
  cluster.resume(node.number);
}

function nodeBy(cluster: Cluster, random: () => number): ClusterNode {
  return cluster.node(Math.floor(random() * cluster.nodes.length));
}

function msBy(random: () => number, most: number): number {
  return Math.floor(random() * most);
}

function directionsBy(random: () => number): Direction[] {
  const chance = random();
  if (chance < 1 / 3) return ['outwards'];
  return chance < 2 / 3 ? ['inwards'] : ['outwards', 'inwards'];
}
