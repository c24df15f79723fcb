import { Ledger } from './simulated-agent.ts';
import { SimulatedDatabase } from './simulated-database.ts';
import { MISFORTUNES } from './simulated-faults.ts';
import { SimulatedNetwork, type Weather } from './simulated-network.ts';
import { SimulatedNode, type Surroundings } from './simulated-node.ts';
import type { World } from './world.ts';

const NODES = 3;
/** After which a node that has ended is started again. */
const RESTART_MS = 1_500;
const A_MINUTE_MS = 60_000;

/** What is taken out, to see whether that is found. */
export type Mutation =
  | 'the epoch of an append'
  | 'the fence of a tool call'
  | 'the sequence checks of a resume'
  | 'the look for another session'
  | 'the keys of requests'
  | 'the last event of a fork'
  | 'the numbers of statecharts'
  | 'the tool servers of other nodes';

/** Three nodes with what they share. A node that ends is started again. */
export class SimulatedCluster {
  readonly world: World;
  readonly database: SimulatedDatabase;
  readonly network: SimulatedNetwork;
  readonly ledger = new Ledger();
  readonly nodes: SimulatedNode[] = [];
  readonly #surroundings: Surroundings;
  #lives = 0;

  constructor(
    world: World,
    { mutation, isFull }: { readonly mutation?: Mutation | undefined; readonly isFull: boolean },
  ) {
    this.world = world;
    this.database = new SimulatedDatabase(world);
    this.database.isFencing = mutation !== 'the epoch of an append';
    this.database.lacksOfForks = mutation === 'the last event of a fork' ? 1 : 0;
    this.network = new SimulatedNetwork(world);
    this.network.isNumbered = mutation !== 'the sequence checks of a resume';
    const hasToolFence = mutation !== 'the fence of a tool call';
    this.#surroundings = {
      world,
      database: this.database,
      network: this.network,
      ledger: this.ledger,
      hasToolFence,
      isFull,
    };
    for (let place = 0; place < NODES; place += 1) this.#start(place);
  }

  /** One that clients can be connected to, also if it is paused: they cannot know. */
  readonly any = (): SimulatedNode | undefined => {
    const up = this.nodes.filter(({ isUp }) => isUp);
    return up.length > 0 ? this.world.pick(up) : undefined;
  };

  /** @param count how many, one after the other or at the same time. */
  async suffer(count: number, weather: Weather): Promise<void> {
    const { world } = this;
    this.network.weather = weather;
    const sufferings: Promise<void>[] = [];
    for (let number = 0; number < count; number += 1) {
      await world.wait(world.random() * 1_500);
      const [name, misfortune] = world.pick(Object.entries(MISFORTUNES));
      const node = world.pick(this.nodes);
      world.note(`${node.life.name} ${name}`);
      const suffering = misfortune(this, node).then(() => world.note(`${node.life.name} ${name} no more`));
      sufferings.push(suffering);
      if (world.chance(0.6)) await suffering;
    }
    await Promise.all(sufferings);
    this.network.weather = { lost: 0, doubled: 0, late: 0 };
  }

  #start(place: number): void {
    this.#lives += 1;
    // The clock of one node is wrong.
    const shiftMs = place === NODES - 1 ? A_MINUTE_MS : 0;
    const node = SimulatedNode.start(this.#surroundings, `n${place}.${this.#lives}`, shiftMs);
    this.nodes[place] = node;
    node.life.onDeath(() => void this.world.plan(null, RESTART_MS, '', () => this.#start(place)));
  }
}
