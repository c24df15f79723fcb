import type { McpServerConfig } from '../contract/agent-config.ts';
import type { LoggedEvent, ServiceEvent } from '../contract/events.ts';
import { SERVICE_STREAM } from '../contract/streams.ts';
import type { EventStore } from '../ports/event-store.ts';

type Configs = Readonly<Record<string, McpServerConfig>>;

/** Remembers, in the log, the tool servers that were connected at run time, so that the next start connects them again. */
export class ServerBook {
  readonly #store: EventStore;
  /** Of what the log has, or may have. */
  readonly #names = new Set<string>();
  #seq = 0;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(store: EventStore) {
    this.#store = store;
  }

  /** To be called once, first. */
  async load(): Promise<Configs> {
    const envelopes = await this.#store.read(SERVICE_STREAM, 0);
    this.#seq = envelopes.at(-1)?.seq ?? 0;
    const configs = envelopes.reduce((folded, { event }) => evolveServers(folded, event), {});
    for (const name of Object.keys(configs)) this.#names.add(name);
    return configs;
  }

  /** Resolves when the server would be there again after a crash. */
  async add(name: string, config: McpServerConfig): Promise<void> {
    this.#names.add(name);
    await this.#append({ type: 'mcp-server.added', name, config });
  }

  /** Of a server of the agent file nothing is recorded: the file has the last word. */
  async remove(name: string): Promise<void> {
    if (!this.#names.delete(name)) return;
    try {
      await this.#append({ type: 'mcp-server.removed', name });
    } catch (error) {
      // For the next try.
      this.#names.add(name);
      throw error;
    }
  }

  #append(event: ServiceEvent): Promise<void> {
    const written = this.#writing.then(async () => {
      await this.#store.append(SERVICE_STREAM, this.#seq, [event]);
      this.#seq += 1;
    });
    this.#writing = written.catch(() => undefined);
    return written;
  }
}

function evolveServers(configs: Configs, event: LoggedEvent): Configs {
  switch (event.type) {
    case 'mcp-server.added':
      return { ...configs, [event.name]: event.config };
    case 'mcp-server.removed':
      return Object.fromEntries(Object.entries(configs).filter(([name]) => name !== event.name));
    default:
      throw new Error(`the stream of the service has an event ${event.type}`);
  }
}
