import type { OfferChange } from '../../core/tool-server/offer-change.ts';
import { ServerPeerError } from '../../core/tool-server/server-peer.ts';
import type { Logger } from '../../ports/logger.ts';
import type { ToolServerConnection } from '../../ports/tool-server.ts';
import { INVALID_PARAMS } from './peer-answer.ts';

/** Of one server. Clients choose what they watch, and few say when they no longer do. */
const MOST_WATCHED = 1_000;

export interface WatchedResourcesDeps {
  /** Whether the server is in the list, connected or not. */
  readonly isListed: (serverId: string) => boolean;
  readonly connectionOf: (serverId: string) => ToolServerConnection | null;
  readonly log: Logger;
}

/**
 * The resources that clients watch. Each is subscribed to once, for all clients, as long as the connection to its server
 * lasts, and again when the server is back. Where there are too many, the one that was asked for longest ago gives way.
 */
export class WatchedResources {
  readonly #deps: WatchedResourcesDeps;
  /** By server and address. The one that was asked for longest ago comes first. */
  readonly #watched = new Map<string, Map<string, Promise<void>>>();

  constructor(deps: WatchedResourcesDeps) {
    this.#deps = deps;
  }

  /** Rejects as the server does, and with a `ServerPeerError` if there is no such server. */
  async watch(serverId: string, uri: string): Promise<void> {
    this.#forgetGone();
    if (!this.#deps.isListed(serverId))
      throw new ServerPeerError(INVALID_PARAMS, `There is no tool server ${serverId}.`);
    const watched = this.#watched.get(serverId) ?? new Map<string, Promise<void>>();
    this.#watched.set(serverId, watched);
    const subscribed = watched.get(uri) ?? this.#request(serverId, 'resources/subscribe', uri);
    watched.delete(uri);
    const [oldest] = watched.keys();
    if (oldest !== undefined && watched.size >= MOST_WATCHED) this.#giveUp(serverId, watched, oldest);
    watched.set(uri, subscribed);
    try {
      await subscribed;
    } catch (error) {
      if (watched.get(uri) === subscribed) watched.delete(uri);
      throw error;
    }
  }

  /** A server that has just connected knows nothing of the subscriptions before. */
  hear({ kind, serverId }: OfferChange): void {
    if (kind !== 'resources' || !this.#deps.connectionOf(serverId)) return;
    for (const uri of this.#watched.get(serverId)?.keys() ?? []) {
      this.#request(serverId, 'resources/subscribe', uri).catch((err: unknown) =>
        this.#deps.log.warn({ server: serverId, uri, err }, 'a resource could not be watched again'),
      );
    }
  }

  /** A server that is off the list ended its subscriptions with its connection. */
  #forgetGone(): void {
    for (const serverId of this.#watched.keys())
      if (!this.#deps.isListed(serverId)) this.#watched.delete(serverId);
  }

  #giveUp(serverId: string, watched: Map<string, unknown>, uri: string): void {
    watched.delete(uri);
    this.#request(serverId, 'resources/unsubscribe', uri).catch((err: unknown) =>
      this.#deps.log.debug({ server: serverId, uri, err }, 'a resource is still watched'),
    );
  }

  async #request(
    serverId: string,
    method: 'resources/subscribe' | 'resources/unsubscribe',
    uri: string,
  ): Promise<void> {
    await this.#deps.connectionOf(serverId)?.request({ method, params: { uri } });
  }
}
