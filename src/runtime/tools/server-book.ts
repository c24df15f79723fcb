import type { Envelope } from '../../core/log/envelope.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { LoggedEvent, ServiceEvent } from '../../core/log/events.ts';
import { CLEAR_SERVERS_STREAM, SERVER_SECRET_STREAMS, SERVERS_STREAM } from '../../core/log/streams.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import { messageOf } from '../../core/thrown.ts';
import type { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import type { EventStore, SessionSummary } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { SealedError, type SecretBox } from '../../ports/secret-box.ts';
import { SharedStream } from '../streams/shared-stream.ts';
import {
  type Disconnected,
  foldClearServers,
  foldDisconnected,
  foldServer,
  type SecretIds,
} from './server-fold.ts';
import { ServerSecrets } from './server-secrets.ts';

type Configs = Readonly<Record<string, McpServerConfig>>;

/** A server that another node has connected, replaced or removed. */
export interface ServerNews {
  readonly name: string;
  /** Undefined if the server was removed. */
  readonly secretId: string | undefined;
  /** Null if the server was removed. */
  readonly config: McpServerConfig | null;
}

export interface ServerBookOptions {
  /** Whether other nodes write the same log: then a secret may be there whose server is about to be registered. */
  readonly isShared?: boolean;
  /** Milliseconds since the epoch. A simulated clock, in tests. */
  readonly now?: () => number;
}

/** What the log has of a server. */
interface Found {
  readonly secretId: string | undefined;
  readonly config: McpServerConfig | null;
  /** Whether the configuration is encrypted with an earlier key. */
  readonly isOutdated: boolean;
}

interface Registration {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly origin: Origin;
  /** Whether a server of the name may be replaced, or may come to be. @param current its secret, if there is one. */
  readonly mayReplace: (current: string | undefined) => boolean;
}

/** The age at which a secret without a server is one that was left behind, and not one whose server comes next. */
const LEFT_BEHIND_MS = 60 * 60_000;

/**
 * Records in the log the tool servers that were connected at run time, so that the next start connects them again. A
 * configuration holds secrets: it is encrypted, in a stream of its own that is erased with the server. Other nodes may
 * connect and remove servers, too: `news` has those that this one does not know of.
 */
export class ServerBook {
  readonly #store: EventStore;
  readonly #secrets: ServerSecrets;
  readonly #log: Logger;
  readonly #options: Required<ServerBookOptions>;
  readonly #stream: SharedStream;
  /** Servers that the log has, or may have. */
  readonly #names = new Set<string>();
  /** What the log says. */
  readonly #secretIds: SecretIds = new Map();
  /** What those who use this book know. */
  readonly #known: SecretIds = new Map();
  /** Servers of the agent file that are disconnected at all nodes, as the log says. Empty where no other nodes are. */
  readonly #disconnected: Disconnected = new Set();
  /** The same, as those who use this book know it. */
  readonly #knownDisconnected: Disconnected = new Set();
  /** The secrets that cannot be decrypted. */
  readonly #unreadable: SecretIds = new Map();
  /** The secrets that this process has made. An append that failed may have stored them after all. */
  readonly #own = new Set<string>();

  constructor(
    store: EventStore,
    box: SecretBox,
    log: Logger,
    { isShared = false, now = Date.now }: ServerBookOptions = {},
  ) {
    this.#store = store;
    this.#secrets = new ServerSecrets(store, box);
    this.#log = log;
    this.#options = { isShared, now };
    this.#stream = new SharedStream(store, SERVERS_STREAM, (envelope) => this.#fold(envelope));
  }

  /** Call once, before anything else. Encrypts again what is in clear or encrypted with an earlier key. */
  async load(): Promise<Configs> {
    const streams = await this.#streams();
    if (streams.length === 0) return {};
    await this.catchUp();
    await this.#eraseLeftBehind(streams);
    for (const name of this.#disconnected) this.#knownDisconnected.add(name);
    const sealed = await this.#open();
    const clear = await this.#takeOver(streams);
    return { ...sealed, ...clear };
  }

  /** What an operator should know now. */
  warnings(): readonly string[] {
    const still = [...this.#unreadable].filter(([name, secretId]) => this.#secretIds.get(name) === secretId);
    return still.map(
      ([name]) =>
        `tool server "${name}": not connected, because its configuration cannot be decrypted; put the key back and start again, or connect the server anew`,
    );
  }

  /** Reads what other nodes have written. */
  catchUp(): Promise<void> {
    return this.#stream.catchUp();
  }

  /** What other nodes have written that nobody has acknowledged. */
  async news(): Promise<readonly ServerNews[]> {
    await this.catchUp();
    const names = new Set([...this.#secretIds.keys(), ...this.#known.keys()]);
    const news: ServerNews[] = [];
    for (const name of names) {
      if (this.#secretIds.get(name) === this.#known.get(name)) continue;
      const found = await this.#find(name);
      if (found !== null) news.push({ name, secretId: found.secretId, config: found.config });
    }
    return news;
  }

  /** @returns false if the news is known already, or not the latest any more: then leave it. */
  acknowledge({ name, secretId }: ServerNews): boolean {
    if (this.#secretIds.get(name) !== secretId || this.#known.get(name) === secretId) return false;
    this.#know(name, secretId);
    return true;
  }

  /** Whether somebody has disconnected this server of the agent file, for all nodes. */
  isDisconnected(name: string): boolean {
    return this.#knownDisconnected.has(name);
  }

  /** The servers of the agent file that other nodes have disconnected, or connected again. Each is told once. */
  newsOfFile(isWanted: (name: string) => boolean): readonly string[] {
    const names = [...new Set([...this.#disconnected, ...this.#knownDisconnected])];
    const news = names.filter(
      (name) => this.#disconnected.has(name) !== this.#knownDisconnected.has(name) && isWanted(name),
    );
    for (const name of news) this.#knowOfFile(name);
    return news;
  }

  /**
   * All nodes may be connected to this server of the agent file again. Resolves when it is in the log; records nothing
   * if nobody has disconnected it.
   */
  async reconnect(name: string, origin: Origin): Promise<void> {
    if (!this.#options.isShared) return;
    await this.#stream.write(
      () => ({
        events: this.#disconnected.has(name)
          ? [{ type: 'mcp-server.removed', name, inFile: 'connected' }]
          : [],
        answer: () => this.#knowOfFile(name),
      }),
      origin,
    );
  }

  /** The servers of the log, also those whose configuration cannot be decrypted now. */
  get names(): readonly string[] {
    return [...this.#secretIds.keys()];
  }

  /** Reads the configurations without changing the log. Rejects with `SealedError`. */
  static async read(store: EventStore, box: SecretBox): Promise<Configs> {
    const secretIds: SecretIds = new Map();
    for (const envelope of await store.read(SERVERS_STREAM, 0)) foldServer(secretIds, envelope);
    const configs: Record<string, McpServerConfig> = {};
    const secrets = new ServerSecrets(store, box);
    for (const [name, secretId] of secretIds) {
      const sealed = await secrets.read(secretId);
      if (sealed !== undefined) configs[name] = await secrets.open(sealed, secretId);
    }
    return { ...configs, ...foldClearServers(await store.read(CLEAR_SERVERS_STREAM, 0)) };
  }

  /**
   * Resolves when the server would survive a crash.
   *
   * @returns false if another node has connected a server of this name that nobody has acknowledged. It stays.
   */
  add(name: string, config: McpServerConfig, origin: Origin): Promise<boolean> {
    this.#names.add(name);
    const isNew = (current: string | undefined): boolean =>
      current === undefined || current === this.#known.get(name) || this.#own.has(current);
    return this.#register({ name, config, origin, mayReplace: isNew });
  }

  /**
   * Resolves when the configuration is erased. A server of the agent file stays disconnected at all nodes. Where no other
   * nodes are, nothing is recorded of it: the next start connects it again.
   */
  async remove(name: string, origin: Origin, { isInFile = false } = {}): Promise<void> {
    const staysAway = isInFile && this.#options.isShared;
    const isKnown = this.#names.delete(name);
    if (!isKnown && !staysAway) return;
    try {
      await this.#stream.write(async () => {
        const secretId = this.#secretIds.get(name);
        // Secret first: if the process stops in between, a server without a secret counts as removed.
        await this.#secrets.erase(secretId);
        const events: ServiceEvent[] = [];
        if (secretId !== undefined) events.push({ type: 'mcp-server.removed', name });
        if (staysAway && !this.#disconnected.has(name))
          events.push({ type: 'mcp-server.removed', name, inFile: 'disconnected' });
        const answer = (): void => {
          this.#know(name, undefined);
          this.#knowOfFile(name);
        };
        return { events, answer };
      }, origin);
    } catch (error) {
      // So that the next attempt finds it.
      if (isKnown) this.#names.add(name);
      throw error;
    }
  }

  #fold(envelope: Envelope<LoggedEvent>): void {
    const { event } = envelope;
    if ('name' in event) this.#own.delete(this.#secretIds.get(event.name) ?? '');
    foldServer(this.#secretIds, envelope);
    if (this.#options.isShared) foldDisconnected(this.#disconnected, envelope);
    if (event.type === 'mcp-server.registered') this.#names.add(event.name);
  }

  #know(name: string, secretId: string | undefined): void {
    if (secretId === undefined) this.#known.delete(name);
    else this.#known.set(name, secretId);
  }

  #knowOfFile(name: string): void {
    if (this.#disconnected.has(name)) this.#knownDisconnected.add(name);
    else this.#knownDisconnected.delete(name);
  }

  #streams(): Promise<SessionSummary[]> {
    return this.#store.sessions({ after: SERVER_SECRET_STREAMS });
  }

  /** Erases what an interrupted addition or removal left behind. */
  #eraseLeftBehind(streams: readonly SessionSummary[]): Promise<void> {
    const { isShared, now } = this.#options;
    const latest = isShared ? now() - LEFT_BEHIND_MS : Number.POSITIVE_INFINITY;
    return this.#secrets.eraseOthers(streams, this.#secretIds.values(), latest);
  }

  async #open(): Promise<Configs> {
    const configs: Record<string, McpServerConfig> = {};
    for (const name of [...this.#secretIds.keys()]) {
      const found = await this.#find(name);
      if (found === null) continue;
      const { secretId, config, isOutdated } = found;
      this.#know(name, secretId);
      if (config === null) {
        await this.#finishRemoval(name, secretId);
        continue;
      }
      configs[name] = config;
      if (!isOutdated) continue;
      const mayReplace = (current: string | undefined): boolean => current === secretId;
      await this.#register({ name, config, origin: serviceOrigin(), mayReplace });
    }
    return configs;
  }

  /** A process was stopped between the two steps of a removal. The nodes that ran meanwhile are still connected to the server. */
  #finishRemoval(name: string, secretId: string | undefined): Promise<void> {
    return this.#stream.write(() => {
      const isLeft = secretId !== undefined && this.#secretIds.get(name) === secretId;
      return {
        events: isLeft ? [{ type: 'mcp-server.removed', name }] : [],
        answer: () => this.#know(name, this.#secretIds.get(name)),
      };
    }, serviceOrigin());
  }

  /** What the log has of the server now. Null if it cannot be decrypted, which is told once. */
  async #find(name: string): Promise<Found | null> {
    let missed: string | undefined;
    for (;;) {
      const secretId = this.#secretIds.get(name);
      // A server whose secret is gone counts as removed.
      if (secretId === undefined || secretId === missed) return { secretId, config: null, isOutdated: false };
      const sealed = await this.#secrets.read(secretId);
      if (sealed !== undefined) return this.#opened(name, secretId, sealed);
      missed = secretId;
      // Another node may have replaced the server before its secret was read.
      await this.catchUp();
    }
  }

  async #opened(name: string, secretId: string, sealed: string): Promise<Found | null> {
    try {
      const config = await this.#secrets.open(sealed, secretId);
      return { secretId, config, isOutdated: await this.#secrets.isOutdated(sealed) };
    } catch (error) {
      if (!(error instanceof SealedError)) throw error;
      this.#log.error(
        { server: name, reason: messageOf(error) },
        'a tool server that was connected at run time is not connected again, because its configuration cannot be decrypted: put the key back and start again, or connect the server anew',
      );
      this.#unreadable.set(name, secretId);
      this.#know(name, secretId);
      return null;
    }
  }

  /** Repeated by the next start if it is interrupted: a server that was taken over replaces itself. */
  async #takeOver(streams: readonly SessionSummary[]): Promise<Configs> {
    if (!streams.some(({ sessionId }) => sessionId === CLEAR_SERVERS_STREAM)) return {};
    const configs = foldClearServers(await this.#store.read(CLEAR_SERVERS_STREAM, 0));
    for (const [name, config] of Object.entries(configs))
      await this.#register({ name, config, origin: serviceOrigin(), mayReplace: () => true });
    await this.#store.erase(CLEAR_SERVERS_STREAM);
    return configs;
  }

  /** @returns whether the server was registered. */
  #register({ name, config, origin, mayReplace }: Registration): Promise<boolean> {
    const secretId = crypto.randomUUID();
    this.#own.add(secretId);
    let isKept = false;
    return this.#stream.write(async () => {
      const former = this.#secretIds.get(name);
      if (!mayReplace(former)) {
        const left = isKept ? secretId : undefined;
        return { events: [], answer: () => this.#secrets.erase(left).then(() => false) };
      }
      // Once, also when another node was first.
      if (!isKept) await this.#secrets.keep(secretId, config, origin);
      isKept = true;
      const answer = async (): Promise<boolean> => {
        this.#know(name, secretId);
        await this.#secrets.erase(former);
        return true;
      };
      return { events: [{ type: 'mcp-server.registered', name, secretId }], answer };
    }, origin);
  }
}
