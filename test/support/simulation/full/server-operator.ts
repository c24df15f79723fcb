import { asServiceError } from '../../../../src/core/errors.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import type { IdempotencyKey } from '../../../../src/core/request/request-events.ts';
import type { Bus } from '../../../../src/ports/bus.ts';
import { ask, isForEver, isTransient, KEY_MS } from '../asking.ts';
import type { SimulatedCluster } from '../simulated-cluster.ts';
import type { World } from '../world.ts';
import type { Companion } from './companion.ts';

const PAUSE_MS = 2_500;
const AGAIN_MS = 300;
/** Errors that say that the server is already as it is wanted. */
const DONE_BEFORE = ['SERVER_NOT_FOUND', 'INVALID_REQUEST'];

/** Connects one tool server and disconnects it again, each time at any node. Nobody else does. */
export class ServerOperator implements Companion {
  readonly #world: World;
  readonly #server: string;
  readonly #cluster: SimulatedCluster;
  /** Whether the server is to be connected, as it was acknowledged last. Null: an attempt may still be done. */
  #isWanted: boolean | null;
  #asked = 0;
  /** The servers that each node has connected, as it said last. */
  readonly #connected = new Map<string, boolean>();
  #isStopped = false;

  constructor(world: World, server: string, cluster: SimulatedCluster) {
    this.#world = world;
    this.#server = server;
    this.#cluster = cluster;
    this.#isWanted = server === 'extra';
  }

  async work(): Promise<void> {
    const world = this.#world;
    let isWanted = this.#isWanted === true;
    for (let left = 1 + world.below(4); left > 0; left -= 1) {
      await world.wait(world.random() * PAUSE_MS);
      isWanted = !isWanted;
      await this.#bring(isWanted);
    }
    void this.#look();
  }

  isSettled(): boolean {
    const { nodes } = this.#cluster;
    const all = nodes.map(({ life }) => this.#connected.get(life.name));
    const wanted = this.#isWanted ?? all[0];
    return wanted !== undefined && all.every((one) => one === wanted);
  }

  describe(): string {
    const all = this.#cluster.nodes.map(({ life: { name } }) => `${name}: ${this.#connected.get(name)}`);
    return `${this.#server} is wanted: ${this.#isWanted}, and connected at ${all.join(', ')}`;
  }

  stop(): void {
    this.#isStopped = true;
  }

  check(): string[] {
    return [];
  }

  #connect(bus: Bus, key: IdempotencyKey): Promise<unknown> {
    const config = { type: 'stdio', command: 'none' } as const;
    return bus.send('mcp-server.connect', { name: this.#server, config, key }, ANYONE);
  }

  /** Until a node has said that it is done, or was before. */
  async #bring(isWanted: boolean): Promise<void> {
    const world = this.#world;
    let isSure = this.#isWanted !== null;
    let id = this.#nextId();
    for (;;) {
      const what = `${isWanted ? 'connect' : 'disconnect'} ${id}`;
      const node = this.#cluster.any();
      const key = { id, fingerprint: id, expiresAt: Date.now() + KEY_MS };
      const outcome =
        node &&
        (await ask(
          world,
          node,
          `is asked: ${what}`,
          (bus): Promise<unknown> =>
            isWanted
              ? this.#connect(bus, key)
              : bus.send('mcp-server.disconnect', { serverId: this.#server }, ANYONE),
        ));
      if (outcome && outcome !== 'lost' && 'answer' in outcome) {
        world.note(`${what}: ${JSON.stringify(outcome.answer)}`);
        break;
      }
      // It may still be done, also after something else.
      if (outcome === 'lost') isSure = false;
      else if (outcome) {
        const { code, body } = asServiceError(outcome.error);
        world.note(`${what}: ${code}`);
        if (code !== 'SERVICE_UNAVAILABLE') isSure = false;
        if (DONE_BEFORE.includes(code)) break;
        if (!isTransient(outcome.error)) world.faults.push(`${what} was refused: ${JSON.stringify(body)}`);
        if (isForEver(outcome.error)) id = this.#nextId();
      }
      await world.wait(50 + world.random() * AGAIN_MS);
    }
    this.#isWanted = isSure ? isWanted : null;
  }

  #nextId(): string {
    this.#asked += 1;
    return `${this.#server}-${this.#asked}`;
  }

  /** Asks all nodes again and again. */
  async #look(): Promise<void> {
    const world = this.#world;
    while (!this.#isStopped) {
      for (const node of this.#cluster.nodes) {
        const outcome = await ask(world, node, '', (bus) => bus.send('mcp-server.list', {}, ANYONE));
        if (outcome === 'lost' || 'error' in outcome) continue;
        const found = outcome.answer.find(({ id }) => id === this.#server);
        this.#connected.set(node.life.name, found?.status === 'connected');
      }
      await world.wait(200);
    }
  }
}
