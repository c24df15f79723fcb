import type { SimulatedCluster } from './simulated-cluster.ts';
import type { SimulatedNode } from './simulated-node.ts';

type Misfortune = (cluster: SimulatedCluster, node: SimulatedNode) => Promise<void>;

const MAX_MS = 5_000;

/** What goes wrong for a while. Each resolves when it is over. */
export const MISFORTUNES: Readonly<Record<string, Misfortune>> = {
  async 'is killed'({ world }, node) {
    node.kill();
    await world.wait(world.random() * MAX_MS);
  },
  async 'is stopped'({ world }, node) {
    node.stop();
    await world.wait(world.random() * MAX_MS);
  },
  async 'is paused'({ world }, { life }) {
    world.pause(life);
    await world.wait(world.random() * MAX_MS);
    world.resume(life);
  },
  async 'cannot reach the database'({ world }, { database }) {
    database.isReachable = false;
    await world.wait(world.random() * MAX_MS);
    database.isReachable = true;
  },
  async 'has a slow database'({ world }, { database }) {
    database.slowness = 2_500;
    await world.wait(world.random() * MAX_MS);
    database.slowness = 0;
  },
  async 'is cut from the bus'({ world }, { link }) {
    link.cut();
    await world.wait(world.random() * MAX_MS);
    link.heal();
  },
  async 'hears nothing'({ world }, { link }) {
    link.isDeaf = true;
    await world.wait(world.random() * MAX_MS);
    link.heal();
  },
  async 'is not heard'({ world }, { link }) {
    link.isMute = true;
    await world.wait(world.random() * MAX_MS);
    link.heal();
  },
  async 'is there while the database is away'({ world, nodes }) {
    for (const { database } of nodes) database.isReachable = false;
    await world.wait(world.random() * MAX_MS);
    for (const { database } of nodes) database.isReachable = true;
  },
  async 'is there while the bus is away'({ world, nodes }) {
    for (const { link } of nodes) link.cut();
    await world.wait(world.random() * MAX_MS);
    for (const { link } of nodes) link.heal();
  },
};
