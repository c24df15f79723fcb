import { NatsServer } from '../nats/nats-server.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';

/** What the nodes of a cluster share. Several clusters may use it, each with a schema of its own. */
export class ClusterEngines implements AsyncDisposable {
  readonly postgres: PostgresServer;
  readonly nats: NatsServer;

  private constructor(postgres: PostgresServer, nats: NatsServer) {
    this.postgres = postgres;
    this.nats = nats;
  }

  static async start(): Promise<ClusterEngines> {
    const [postgres, nats] = await Promise.all([PostgresServer.start(), NatsServer.start()]);
    return new ClusterEngines(postgres, nats);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.nats[Symbol.asyncDispose]();
    await this.postgres[Symbol.asyncDispose]();
  }
}
