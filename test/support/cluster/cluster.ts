import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { seededRandom } from '../project/seeded-random.ts';
import { type Ending, ServiceProcess } from '../service/service-process.ts';
import { tempDirectory } from '../service/temp-directory.ts';
import { Balancer } from './balancer.ts';
import type { ClusterEngines } from './cluster-engines.ts';
import { ClusterNode } from './cluster-node.ts';
import { awaited, withinMs } from './deadline.ts';
import { Ownership } from './ownership.ts';
import { PartitionedLink } from './partitioned-link.ts';

/** A lease, a renewal, and what a busy machine takes. */
const SETTLE_MS = 60_000;
const END_MS = 60_000;

export interface ClusterOptions {
  readonly engines: ClusterEngines;
  /** Of all nodes. */
  readonly agent: object;
  readonly nodes?: number;
  /** False: one node alone, without a bus. */
  readonly hasBus?: boolean;
  /** By how much the clock of each node is wrong. */
  readonly clockShiftsMs?: readonly number[];
  /** Clients are authenticated by API keys; the nodes have one of an administrator. */
  readonly hasKeys?: boolean;
  /** Of the balancer's choices. */
  readonly seed?: number;
}

/** Real services on one database and one bus, behind a balancer. */
export class Cluster implements AsyncDisposable {
  readonly engines: ClusterEngines;
  readonly nodes: readonly ClusterNode[];
  readonly balancer: Balancer;
  /** In which the nodes run. */
  readonly folder: string;
  /** What it has opened, in that order. */
  readonly #parts: readonly AsyncDisposable[];
  readonly #storeUrl: string;
  #ownership: Ownership | null = null;

  private constructor(
    { engines }: ClusterOptions,
    {
      nodes,
      balancer,
      folder,
      storeUrl,
    }: Pick<Cluster, 'nodes' | 'balancer' | 'folder'> & { storeUrl: string },
    parts: readonly AsyncDisposable[],
  ) {
    this.engines = engines;
    this.nodes = nodes;
    this.balancer = balancer;
    this.folder = folder;
    this.#storeUrl = storeUrl;
    this.#parts = parts;
  }

  /** Resolves when all nodes listen and know each other. A node that loses its lease meanwhile is started again. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const cluster = await Cluster.create(options);
    try {
      if (options.hasKeys) await cluster.#makeAdmin();
      // The first one makes the tables.
      await cluster.node(0).start();
      await Promise.all(cluster.nodes.slice(1).map((node) => node.start()));
      for (const { port } of cluster.nodes) cluster.balancer.add(port);
      cluster.#ownership = await Ownership.observe(cluster.#storeUrl);
      // On a busy machine a node may lose its lease as early as this.
      await cluster.recovered();
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  /** Before its nodes are started. */
  static async create(options: ClusterOptions): Promise<Cluster> {
    const { engines, agent, nodes: count = 3, hasBus = true, hasKeys = false, seed = 1 } = options;
    const parts: AsyncDisposable[] = [];
    const use = <T extends AsyncDisposable>(part: T): T => {
      parts.push(part);
      return part;
    };
    const folder = use(await tempDirectory());
    await writeFile(join(folder.path, 'agent.yml'), JSON.stringify(agent));
    if (hasKeys) await writeFile(join(folder.path, 'service.yml'), 'auth: {apiKeys: true}\n');
    const args = hasKeys ? ['--config', 'service.yml'] : [];
    const balancer = use(await Balancer.listen(seededRandom(seed)));
    const storeUrl = engines.postgres.newUrl();
    // A secret of one node must be readable on the others.
    const secretKey = randomBytes(32).toString('base64');
    const nodes: ClusterNode[] = [];
    for (let number = 0; number < count; number += 1) {
      const database = use(await PartitionedLink.to(engines.postgres.port));
      const bus = hasBus ? use(await PartitionedLink.to(engines.nats.port)) : null;
      const environment = {
        AGENT_SERVICE_STORE: storeUrl.replace(`:${engines.postgres.port}/`, `:${database.port}/`),
        AGENT_SERVICE_SECRET_KEY: secretKey,
        AGENT_SERVICE_LOG_LEVEL: process.env.CLUSTER_LOG_LEVEL ?? 'info',
        ...(bus && { AGENT_SERVICE_BUS: `nats://127.0.0.1:${bus.port}` }),
      };
      const clockShiftMs = options.clockShiftsMs?.[number] ?? 0;
      const own = { number, folder: folder.path, args, environment, clockShiftMs, database, bus };
      nodes.push(use(new ClusterNode(own)));
    }
    return new Cluster(options, { nodes, balancer, folder: folder.path, storeUrl }, parts);
  }

  /** Of the balancer: a node at random answers. */
  get url(): string {
    return this.balancer.url;
  }

  get ownership(): Ownership {
    if (!this.#ownership) throw new Error('the cluster was not started');
    return this.#ownership;
  }

  node(number: number): ClusterNode {
    const node = this.nodes[number];
    if (!node) throw new Error(`there is no node ${number}`);
    return node;
  }

  /** Asks a node at random, each time over a new connection. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('Connection', 'close');
    return fetch(`${this.url}${path}`, { ...init, headers });
  }

  post(path: string, body: unknown = {}, more: Record<string, string> = {}): Promise<Response> {
    const headers = { 'Content-Type': 'application/json', ...more };
    return this.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  /** The balancer sends nobody to it any more, as if it watched the node's health. */
  async kill(number: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<Ending> {
    const node = this.node(number);
    this.balancer.remove(node.port);
    node.signal(signal);
    return withinMs(END_MS, `node ${number} ends after ${signal}`, node.ended);
  }

  pause(number: number): void {
    const node = this.node(number);
    this.balancer.remove(node.port);
    node.pause();
  }

  /** A node that has lost its lease meanwhile ends: see `revive`. */
  resume(number: number): void {
    const node = this.node(number);
    node.resume();
    this.balancer.add(node.port);
  }

  /** Starts a node that has ended. */
  async restart(number: number): Promise<void> {
    const node = this.node(number);
    this.balancer.remove(node.port);
    await node.start();
    this.balancer.add(node.port);
  }

  /** Starts the nodes again that have ended, as an orchestrator does. Throws if one ended that should not. */
  async revive(): Promise<void> {
    for (const node of this.nodes) {
      if (await node.isRunning()) continue;
      requireExpected(node.number, await node.ended);
      await this.restart(node.number);
    }
  }

  /** Resolves when all nodes are ready, each knows exactly the others, and their tool servers are up. */
  async settled(): Promise<void> {
    await awaited(SETTLE_MS, 'all nodes are ready and know each other', () => this.#unsettled(), isNone);
  }

  /** The same after a fault, of which a node may have ended: nodes that end are started again. */
  async recovered(): Promise<void> {
    const revived = async (): Promise<string[]> => {
      await this.revive();
      return this.#unsettled();
    };
    await awaited(SETTLE_MS, 'all nodes are ready and know each other again', revived, isNone);
  }

  /** The number of the node that owns the session. */
  async ownerOf(sessionId: string): Promise<number> {
    const owner = await this.ownership.ownerOf(sessionId);
    for (const node of this.nodes)
      if ((await node.isRunning()) && !node.isPaused && (await node.nodeId()) === owner) return node.number;
    throw new Error(`${sessionId} has the owner ${owner}, which is none of the nodes that run`);
  }

  /** What `export` prints of a session, read from the database without any node. */
  async exported(sessionId: string): Promise<string> {
    const args = ['export', sessionId, '--store', this.#storeUrl];
    const { code, stdout, stderr } = await new ServiceProcess(args, { cwd: this.folder }).ended;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { CLUSTER_LOGS } = process.env;
    if (CLUSTER_LOGS !== undefined) await this.#writeLogs(CLUSTER_LOGS);
    for (const node of this.nodes) if (node.isPaused) node.resume();
    for (const part of this.#parts.toReversed()) await part[Symbol.asyncDispose]();
  }

  /** What is not as it should be. */
  async #unsettled(): Promise<string[]> {
    const living = await this.ownership.living();
    const complaints = await Promise.all(this.nodes.map((node) => this.#complaints(node, living)));
    return complaints.flat();
  }

  /** @param living the nodes that have a lease. One that has lost it may not know it yet. */
  async #complaints(node: ClusterNode, living: readonly number[]): Promise<string[]> {
    if (!(await node.isReady())) return [`node ${node.number} is not ready`];
    if (!(await node.hasTools())) return [`node ${node.number} has no tools yet`];
    // A service alone lists none.
    if (!node.hasBus) return [];
    const known = await node.nodes();
    const self = known.find(({ isThis }) => isThis)?.nodeId;
    const ids = known.map(({ nodeId }) => nodeId);
    if (
      self !== undefined &&
      living.includes(self) &&
      String(ids) === String(living) &&
      ids.length === this.nodes.length
    )
      return [];
    return [
      `node ${node.number} is ${self} and knows ${ids.join(', ')}, and ${living.join(', ')} have a lease`,
    ];
  }

  /** Before the first node starts. */
  async #makeAdmin(): Promise<void> {
    const args = ['keys', 'create', '--name', 'admin', '--role', 'admin', '--store', this.#storeUrl];
    const { code, stdout, stderr } = await new ServiceProcess(args, { cwd: this.folder }).ended;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    for (const node of this.nodes) node.key = stdout.trim();
  }

  /** What the nodes have said, for whoever looks for a fault. */
  async #writeLogs(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    for (const node of this.nodes)
      await writeFile(join(folder, `${this.balancer.port}-${node.number}.log`), await node.said());
  }
}

function isNone(complaints: readonly string[]): boolean {
  return complaints.length === 0;
}

/** A node is ended by a test, or ends because it has lost its lease. */
function requireExpected(number: number, { code, signal, stderr }: Ending): void {
  const hasLostLease = code === 1 && stderr.trimEnd().split('\n').at(-1)?.includes('"FencedError"') === true;
  if (code !== 0 && signal !== 'SIGKILL' && !hasLostLease)
    throw new Error(`node ${number} has ended with ${code ?? signal}: ${stderr.slice(-2_000)}`);
}
