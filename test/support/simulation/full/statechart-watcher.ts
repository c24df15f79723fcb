import type { MachineState } from '../../../../src/core/machine-state.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { MachineReader } from '../../../../src/gateway/stream/machine-reader.ts';
import { LATENCY_MS } from '../asking.ts';
import type { SimulatedCluster } from '../simulated-cluster.ts';
import type { SimulatedNode } from '../simulated-node.ts';
import type { World } from '../world.ts';
import type { Companion } from './companion.ts';

/** Longest that a connection lasts: some end often, some never. */
const STAYS_MS = [3_000, 300_000];

/** Shows the statecharts of all turns as the console does: over many connections, to any nodes. */
export class StatechartWatcher implements Companion {
  readonly #world: World;
  readonly #name: string;
  readonly #cluster: SimulatedCluster;
  /** The machines that run, as it was told since it connected. */
  #running = new Map<string, MachineState>();
  #isStopped = false;

  constructor(world: World, name: string, cluster: SimulatedCluster) {
    this.#world = world;
    this.#name = name;
    this.#cluster = cluster;
  }

  async work(): Promise<void> {
    void this.#watch();
  }

  /** When all turns have ended, it shows none. */
  isSettled(): boolean {
    return this.#turns.length === 0;
  }

  describe(): string {
    return `${this.#name} shows turns: ${this.#turns.map(({ id, value }) => `${id} ${JSON.stringify(value)}`).join()}`;
  }

  stop(): void {
    this.#isStopped = true;
  }

  check(): string[] {
    return [];
  }

  get #turns(): MachineState[] {
    return [...this.#running.values()].filter(({ machine }) => machine === 'turn');
  }

  async #watch(): Promise<void> {
    const world = this.#world;
    while (!this.#isStopped) {
      const node = this.#cluster.any();
      if (node) await this.#connect(node, 100 + world.random() * world.pick(STAYS_MS));
      await world.wait(world.random() * 100);
    }
  }

  /** Resolves when the connection has ended. */
  async #connect(node: SimulatedNode, staysMs: number): Promise<void> {
    const world = this.#world;
    const ended = Promise.withResolvers<void>();
    let isOpen = true;
    let close = (): void => undefined;
    const end = (): void => {
      isOpen = false;
      ended.resolve();
      // The node hears of it when it can.
      world.plan(node.life, 0, '', close);
    };
    const stop = node.life.onDeath(end);
    world.plan(null, staysMs, '', end);
    world.plan(node.life, world.random() * LATENCY_MS, `${this.#name} watches statecharts`, () => {
      const { agent } = node;
      if (!agent || !isOpen) return end();
      this.#running = new Map();
      const reader = new MachineReader({
        bus: agent.bus,
        context: ANYONE,
        filter: {},
        sink: {
          send: (text) => {
            if (isOpen) this.#take(JSON.parse(text));
            return true;
          },
          bufferedBytes: () => 0,
        },
        encode: (state) => JSON.stringify(state),
      });
      close = () => reader.close();
    });
    await ended.promise;
    stop();
  }

  #take(state: MachineState): void {
    const { id, machine, value, status } = state;
    if (machine === 'turn') this.#world.note(`${this.#name} sees ${id} ${JSON.stringify(value)} ${status}`);
    if (status === 'active') this.#running.set(id, state);
    else this.#running.delete(id);
  }
}
