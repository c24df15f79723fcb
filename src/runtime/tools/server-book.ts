import { messageOf } from '../../core/errors.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { ServiceEvent } from '../../core/log/events.ts';
import { CLEAR_SERVERS_STREAM, SERVER_SECRET_STREAMS, SERVERS_STREAM } from '../../core/log/streams.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { SealedError, type SecretBox } from '../../ports/secret-box.ts';
import { foldClearServers, foldServers, type RegisteredServers } from './server-fold.ts';

type Configs = Readonly<Record<string, McpServerConfig>>;

/**
 * Records in the log the tool servers that were connected at run time, so that the next start connects them again. A
 * configuration holds secrets: it is encrypted, in a stream of its own that is erased with the server.
 */
export class ServerBook {
  readonly #store: EventStore;
  readonly #box: SecretBox;
  readonly #log: Logger;
  /** Servers that the log has, or may have. */
  readonly #names = new Set<string>();
  /** The log's secret ids, by server name. */
  readonly #secretIds = new Map<string, string>();
  #seq = 0;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(store: EventStore, box: SecretBox, log: Logger) {
    this.#store = store;
    this.#box = box;
    this.#log = log;
  }

  /** Call once, before anything else. Encrypts again what is in clear or encrypted with an earlier key. */
  async load(): Promise<Configs> {
    const streams = await this.#streams();
    if (streams.length === 0) return {};
    const { secretIds, seq } = await readRegistered(this.#store);
    this.#seq = seq;
    for (const [name, secretId] of secretIds) {
      this.#names.add(name);
      this.#secretIds.set(name, secretId);
    }
    await this.#eraseUnregistered(streams);
    const sealed = await this.#open();
    const clear = await this.#takeOver(streams);
    return { ...sealed, ...clear };
  }

  /** The servers of the log, also those whose configuration cannot be decrypted now. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  /** Reads the configurations without changing the log. Rejects with `SealedError`. */
  static async read(store: EventStore, box: SecretBox): Promise<Configs> {
    const { secretIds } = await readRegistered(store);
    const configs: Record<string, McpServerConfig> = {};
    for (const [name, secretId] of secretIds) {
      const sealed = await readSealed(store, secretId);
      if (sealed !== undefined) configs[name] = await openConfig(box, sealed, secretId);
    }
    return { ...configs, ...foldClearServers(await store.read(CLEAR_SERVERS_STREAM, 0)) };
  }

  /** Resolves when the server would survive a crash. */
  add(name: string, config: McpServerConfig, origin: Origin): Promise<void> {
    this.#names.add(name);
    return this.#inTurn(() => this.#register(name, config, origin));
  }

  /** Resolves when the configuration is erased. Records nothing for a server of the agent file: the file decides about it. */
  async remove(name: string, origin: Origin): Promise<void> {
    if (!this.#names.delete(name)) return;
    try {
      await this.#inTurn(async () => {
        // Secret first: if the process stops in between, a server without a secret counts as removed.
        await this.#eraseSecret(this.#secretIds.get(name));
        await this.#append({ type: 'mcp-server.removed', name }, origin);
        this.#secretIds.delete(name);
      });
    } catch (error) {
      // So that the next attempt finds it.
      this.#names.add(name);
      throw error;
    }
  }

  async #streams(): Promise<string[]> {
    const found = await this.#store.sessions({ after: SERVER_SECRET_STREAMS });
    return found.map(({ sessionId }) => sessionId);
  }

  /** Erases what an interrupted addition or removal left behind. */
  async #eraseUnregistered(streams: readonly string[]): Promise<void> {
    const registered = new Set([...this.#secretIds.values()].map(secretStream));
    const left = streams.filter((id) => id.startsWith(SERVER_SECRET_STREAMS) && !registered.has(id));
    if (left.length > 0) await this.#store.erase(...left);
  }

  async #open(): Promise<Configs> {
    const configs: Record<string, McpServerConfig> = {};
    for (const [name, secretId] of [...this.#secretIds]) {
      const sealed = await readSealed(this.#store, secretId);
      if (sealed === undefined) continue;
      try {
        const config = await openConfig(this.#box, sealed, secretId);
        configs[name] = config;
        if (await this.#box.isOutdated(sealed)) await this.#register(name, config, serviceOrigin());
      } catch (error) {
        if (!(error instanceof SealedError)) throw error;
        this.#log.error(
          { server: name, reason: messageOf(error) },
          'a tool server that was connected at run time is not connected again, because its configuration cannot be decrypted: put the key back and start again, or connect the server anew',
        );
      }
    }
    return configs;
  }

  /** Repeated by the next start if it is interrupted: a server that was taken over replaces itself. */
  async #takeOver(streams: readonly string[]): Promise<Configs> {
    if (!streams.includes(CLEAR_SERVERS_STREAM)) return {};
    const configs = foldClearServers(await this.#store.read(CLEAR_SERVERS_STREAM, 0));
    for (const [name, config] of Object.entries(configs)) await this.add(name, config, serviceOrigin());
    await this.#store.erase(CLEAR_SERVERS_STREAM);
    return configs;
  }

  async #register(name: string, config: McpServerConfig, origin: Origin): Promise<void> {
    const former = this.#secretIds.get(name);
    const secretId = crypto.randomUUID();
    const sealed = await this.#box.seal(JSON.stringify(config), secretId);
    await this.#store.append(secretStream(secretId), 0, [{ type: 'secret.kept', sealed }], { origin });
    await this.#append({ type: 'mcp-server.registered', name, secretId }, origin);
    this.#secretIds.set(name, secretId);
    await this.#eraseSecret(former);
  }

  async #eraseSecret(secretId: string | undefined): Promise<void> {
    if (secretId !== undefined) await this.#store.erase(secretStream(secretId));
  }

  async #append(event: ServiceEvent, origin: Origin): Promise<void> {
    await this.#store.append(SERVERS_STREAM, this.#seq, [event], { origin });
    this.#seq += 1;
  }

  #inTurn(write: () => Promise<void>): Promise<void> {
    const written = this.#writing.then(write);
    this.#writing = written.catch(() => undefined);
    return written;
  }
}

async function readRegistered(store: EventStore): Promise<RegisteredServers> {
  return foldServers(await store.read(SERVERS_STREAM, 0));
}

/** @returns undefined if it was erased. */
async function readSealed(store: EventStore, secretId: string): Promise<string | undefined> {
  const [envelope] = await store.read(secretStream(secretId), 0);
  return envelope?.event.type === 'secret.kept' ? envelope.event.sealed : undefined;
}

async function openConfig(box: SecretBox, sealed: string, secretId: string): Promise<McpServerConfig> {
  return McpServerConfig.parse(JSON.parse(await box.open(sealed, secretId)));
}

function secretStream(secretId: string): string {
  return `${SERVER_SECRET_STREAMS}${secretId}`;
}
