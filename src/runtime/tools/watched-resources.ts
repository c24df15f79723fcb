import { ServiceError } from '../../core/errors.ts';
import type { OfferChange } from '../../core/tool-server/offer-change.ts';
import type { Logger } from '../../ports/logger.ts';
import type { ToolServerConnection } from '../../ports/tool-server.ts';

/** Of one server. Clients choose what they watch. */
const MOST_WATCHED = 1_000;

export interface WatchedResourcesDeps {
  readonly connectionOf: (serverId: string) => ToolServerConnection | null;
  readonly log: Logger;
}

/**
 * The resources that clients watch. Each is subscribed to once, for all clients, as long as the connection to its server
 * lasts, and again when the server is back.
 */
export class WatchedResources {
  readonly #deps: WatchedResourcesDeps;
  readonly #uris = new Map<string, Set<string>>();

  constructor(deps: WatchedResourcesDeps) {
    this.#deps = deps;
  }

  /** Rejects as the server does. */
  async watch(serverId: string, uri: string): Promise<void> {
    const uris = this.#uris.get(serverId) ?? new Set();
    this.#uris.set(serverId, uris);
    if (uris.has(uri)) return;
    if (uris.size >= MOST_WATCHED)
      throw new ServiceError('INVALID_REQUEST', `Too many resources of ${serverId} are watched.`, {
        field: 'uri',
        limit: MOST_WATCHED,
      });
    uris.add(uri);
    try {
      await this.#subscribe(serverId, uri);
    } catch (error) {
      uris.delete(uri);
      throw error;
    }
  }

  /** A server that has just connected knows nothing of the subscriptions before. */
  hear({ kind, serverId }: OfferChange): void {
    if (kind !== 'resources' || !this.#deps.connectionOf(serverId)) return;
    for (const uri of this.#uris.get(serverId) ?? []) {
      this.#subscribe(serverId, uri).catch((err: unknown) =>
        this.#deps.log.warn({ server: serverId, uri, err }, 'a resource could not be watched again'),
      );
    }
  }

  async #subscribe(serverId: string, uri: string): Promise<void> {
    await this.#deps.connectionOf(serverId)?.request({ method: 'resources/subscribe', params: { uri } });
  }
}
