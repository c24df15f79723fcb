import { NatsServer } from '../../test/support/nats/nats-server.ts';
import { PostgresServer } from '../../test/support/postgres/postgres-server.ts';
import type { Scope } from '../support/scope.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { startService } from '../support/subjects.ts';
import { Upstream } from '../support/upstream.ts';

/** What the nodes of a cluster share: a database that syncs each commit, a NATS server and a model service. */
export class Engines {
  readonly upstream: Upstream;
  readonly #scope: Scope;
  readonly #postgres: PostgresServer;
  readonly #nats: NatsServer;
  #nodes = 0;

  private constructor(scope: Scope, upstream: Upstream, postgres: PostgresServer, nats: NatsServer) {
    this.#scope = scope;
    this.upstream = upstream;
    this.#postgres = postgres;
    this.#nats = nats;
  }

  static async start(scope: Scope): Promise<Engines> {
    const [postgres, nats] = await Promise.all([PostgresServer.start({ fsync: true }), NatsServer.start()]);
    scope.defer(() => nats[Symbol.asyncDispose]());
    scope.defer(() => postgres[Symbol.asyncDispose]());
    return new Engines(scope, await Upstream.start(scope), postgres, nats);
  }

  /** The nodes of a new cluster, with a database of their own. */
  async cluster(size: number): Promise<Nodes> {
    const storeUrl = this.#postgres.newUrl();
    const nodes: ServerProcess[] = [];
    while (nodes.length < size) nodes.push(await this.node(storeUrl));
    return new Nodes(storeUrl, nodes);
  }

  async node(storeUrl: string): Promise<ServerProcess> {
    this.#nodes += 1;
    const env = { AGENT_SERVICE_STORE: storeUrl, AGENT_SERVICE_BUS: this.#nats.url };
    const name = `node ${this.#nodes}`;
    return (await startService(this.#scope, { env, upstream: this.upstream.url, name })).server;
  }
}

/** Some nodes of one cluster, measured as one server. The engines are not part of it. */
export class Nodes {
  readonly storeUrl: string;
  readonly all: readonly ServerProcess[];

  constructor(storeUrl: string, all: readonly ServerProcess[]) {
    this.storeUrl = storeUrl;
    this.all = all;
  }

  /** The port of a node; they take turns. */
  portOf(index: number): number {
    const node = this.all[index % this.all.length];
    if (!node) throw new Error('a cluster needs a node');
    return node.port;
  }

  cpuMs(): number {
    return this.all.reduce((sum, node) => sum + node.cpuMs(), 0);
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map((node) => node.stop()));
  }

  rssMb(): number {
    return this.all.reduce((sum, node) => sum + node.rssMb(), 0);
  }
}
