import { memorySnapshotStore } from '../../../src/adapters/memory/memory-snapshot-store.ts';
import type { Adapters } from '../../../src/app/adapters/adapters.ts';
import { chooseAdapters } from '../../../src/app/adapters/choose-adapters.ts';
import type { Agent } from '../../../src/app/agent.ts';
import { announcedStore } from '../../../src/app/cluster/announced-store.ts';
import { fencedTools } from '../../../src/app/cluster/fenced-tools.ts';
import { composeAgent } from '../../../src/app/compose.ts';
import { SignalFanOut } from '../../../src/gateway/stream/signal-fan-out.ts';
import type { SecretBox } from '../../../src/ports/secret-box.ts';
import { Cluster } from '../../../src/runtime/cluster/cluster.ts';
import { recordingLog } from '../telemetry/recording-log.ts';
import { NodeDatabase } from './node-database.ts';
import { AGENT, FULL_AGENT, type Ledger, simulatedModel, simulatedTools } from './simulated-agent.ts';
import type { SimulatedDatabase } from './simulated-database.ts';
import { SimulatedMembership } from './simulated-membership.ts';
import type { SimulatedLink, SimulatedNetwork } from './simulated-network.ts';
import { SimulatedStore } from './simulated-store.ts';
import { Life, type World } from './world.ts';
// Loaded before time is simulated: it takes real time to load.
import '../../../src/runtime/cluster/cluster-bus.ts';

const DRAIN_MS = 5_000;
/** After it has lost its lease, a process needs a moment to end. */
const END_MS = 2;

/** What the nodes of a cluster share. */
export interface Surroundings {
  readonly world: World;
  readonly database: SimulatedDatabase;
  readonly network: SimulatedNetwork;
  readonly ledger: Ledger;
  /** Whether a tool call waits for the lease. */
  readonly hasToolFence: boolean;
  /** Whether clients use all that a service has. */
  readonly isFull: boolean;
}

/** What needs no world. All is loaded before time is simulated: it takes real time to load. */
async function loadCommon(): Promise<Adapters> {
  const log = recordingLog();
  const common = await chooseAdapters({ config: AGENT.config, dataDir: ':memory:', environment: {}, log });
  await common.schemas.issueWith({ type: 'object' }, {});
  return common;
}

const common = await loadCommon();

/** One service of a cluster, in the process of the test: all of its runtime, on adapters of the world. */
export class SimulatedNode {
  readonly life: Life;
  readonly database: NodeDatabase;
  readonly link: SimulatedLink;
  readonly log = recordingLog();
  fanOut: SignalFanOut | null = null;
  agent: Agent | null = null;
  readonly #surroundings: Surroundings;

  private constructor(surroundings: Surroundings, name: string, clockShiftMs: number) {
    const { world, database, network } = surroundings;
    this.#surroundings = surroundings;
    this.life = new Life(name, clockShiftMs);
    this.database = new NodeDatabase(world, database, this.life);
    this.database.onFenced = () =>
      void world.plan(this.life, END_MS, '', () => this.#end('has lost its lease'));
    this.link = network.connect(this.life);
  }

  /** It takes requests when it has an agent. */
  static start(surroundings: Surroundings, name: string, clockShiftMs: number): SimulatedNode {
    const node = new SimulatedNode(surroundings, name, clockShiftMs);
    surroundings.world.plan(node.life, 0, `starts as node ${node.database.node}`, () => {
      node.#compose().catch((error: unknown) => node.#end(`could not start: ${String(error)}`));
    });
    return node;
  }

  /** Clients can be connected to it. */
  get isUp(): boolean {
    return this.agent !== null && !this.life.isDead;
  }

  /** As SIGTERM does. */
  stop(): void {
    const { agent } = this;
    if (!agent || this.life.isDead) return;
    this.#surroundings.world.plan(this.life, 0, 'is stopped', () => {
      this.#stop(agent).catch((error: unknown) => this.#end(`could not stop: ${String(error)}`));
    });
  }

  /** As SIGKILL does. */
  kill(): void {
    this.#end('is killed');
  }

  async #compose(): Promise<void> {
    const { world, ledger, hasToolFence, isFull } = this.#surroundings;
    const { database, link, log } = this;
    const membership = await SimulatedMembership.join(database);
    const store = new SimulatedStore(database, membership.epochs);
    const cluster = new Cluster({ membership, link, store, log });
    const tools = simulatedTools(world, database, ledger);
    this.#membership = membership;
    const agent = await composeAgent({
      ...(isFull ? FULL_AGENT : AGENT),
      log,
      adapters: {
        ...common,
        secrets: clearBox,
        store: announcedStore(store, cluster),
        snapshots: memorySnapshotStore(),
        model: simulatedModel(world, ledger),
        connector: hasToolFence ? fencedTools(tools, membership) : tools,
        cluster,
      },
    });
    this.fanOut = new SignalFanOut(agent.bus, noBroadcast);
    this.agent = agent;
    world.note('is up');
  }

  #membership: SimulatedMembership | null = null;

  async #stop(agent: Agent): Promise<void> {
    await agent.drain(DRAIN_MS);
    await agent.close();
    await this.#membership?.leave();
    this.#end('has ended');
  }

  #end(how: string): void {
    if (this.life.isDead) return;
    this.#surroundings.world.as(this.life, () => this.#surroundings.world.note(how));
    this.life.die();
  }
}

/** The real one encrypts on a thread of its own, which takes real time. */
const clearBox: SecretBox = {
  seal: async (text) => text,
  open: async (sealed) => sealed,
  isOutdated: async () => false,
};

/** Only readers of plain frames share what is sent. */
const noBroadcast = { maxCharacters: 0, publish: () => undefined };
