import { COUNTS_FOR, SHARES } from '../../core/access/shares.ts';
import type { ServiceError } from '../../core/errors.ts';
import { JsonRpcError, RPC } from '../../core/json-rpc.ts';
import { fullService, fullShare, HOLDERS, type LimitHolder } from '../../core/limit-errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { OfferChange } from '../../core/tool-server/offer-change.ts';
import type { Logger } from '../../ports/logger.ts';
import type { RequestOf } from '../../ports/service-requests.ts';
import type { ToolServerConnection } from '../../ports/tool-server.ts';

/** Of one server, for all clients. */
const MAX_WATCHED = 1_000;
const RETRY_SECONDS = 60;

export interface WatchedResourcesDeps {
  /** Whether the server is in the list, connected or not. */
  readonly isListed: (serverId: string) => boolean;
  readonly connectionOf: (serverId: string) => ToolServerConnection | null;
  readonly log: Logger;
}

type Watch = RequestOf<'resource.watch'>;

/** A resource that somebody watches, or that nobody does any more and that is being unsubscribed from. */
interface Watched {
  /** By the id of the watch. */
  readonly watchers: Map<string, RequestContext>;
  subscribed: Promise<void>;
  /** The end of the subscription before. Never rejects. */
  unsubscribed: Promise<void>;
  /** The last request to subscribe has failed. Those who watch it still do so since the connection before. */
  isLost: boolean;
}

/**
 * The resources that clients watch. Each is subscribed to once, from its first watcher to its last, as long as the connection
 * to its server lasts, and again when the server is back.
 */
export class WatchedResources {
  readonly #deps: WatchedResourcesDeps;
  /** By server and address. */
  readonly #watched = new Map<string, Map<string, Watched>>();

  constructor(deps: WatchedResourcesDeps) {
    this.#deps = deps;
  }

  /**
   * Rejects as the server does, with a `JsonRpcError` if there is no such server, with `RATE_LIMIT_EXCEEDED` if the client or
   * its tenant watches too many of its resources, and with `SERVICE_UNAVAILABLE` if all clients do.
   */
  async watch(watch: Watch, client: RequestContext): Promise<void> {
    const { watchId, serverId, uri } = watch;
    this.#forgetGone();
    if (!this.#deps.isListed(serverId))
      throw new JsonRpcError(RPC.invalidParams, `There is no tool server ${serverId}.`);
    const resources = this.#watched.get(serverId) ?? new Map<string, Watched>();
    requireCapacity(resources, uri, client);
    this.#watched.set(serverId, resources);
    const resource = resources.get(uri) ?? unwatched();
    resources.set(uri, resource);
    if (resource.watchers.size === 0 || resource.isLost) this.#subscribe(resource, serverId, uri);
    resource.watchers.set(watchId, client);
    try {
      await resource.subscribed;
    } catch (error) {
      this.unwatch(watch);
      throw error;
    }
  }

  /** If nobody else watches the resource, its server is told. */
  unwatch({ watchId, serverId, uri }: Watch): void {
    const resources = this.#watched.get(serverId);
    const resource = resources?.get(uri);
    if (!resources || !resource?.watchers.delete(watchId) || resource.watchers.size > 0) return;
    const unsubscribed = this.#unsubscribed(resource, serverId, uri).then(() => {
      if (resource.watchers.size === 0 && resource.unsubscribed === unsubscribed) resources.delete(uri);
    });
    resource.unsubscribed = unsubscribed;
  }

  /** A server that has just connected knows nothing of the subscriptions before. */
  connected(serverId: string): void {
    this.#subscribeAgain(serverId, () => true);
  }

  /** Another list ends no subscription, but may have a resource that its server has refused since it is back. */
  hear({ kind, serverId }: OfferChange): void {
    if (kind === 'resources') this.#subscribeAgain(serverId, ({ isLost }) => isLost);
  }

  #subscribeAgain(serverId: string, isMeant: (resource: Watched) => boolean): void {
    if (!this.#deps.connectionOf(serverId)) return;
    for (const [uri, resource] of this.#watched.get(serverId) ?? []) {
      if (resource.watchers.size === 0 || !isMeant(resource)) continue;
      this.#subscribe(resource, serverId, uri);
      resource.subscribed.catch((err: unknown) =>
        this.#deps.log.warn({ server: serverId, uri, err }, 'a resource could not be watched again'),
      );
    }
  }

  #subscribe(resource: Watched, serverId: string, uri: string): void {
    const subscribed = resource.unsubscribed.then(() => this.#request(serverId, 'resources/subscribe', uri));
    resource.subscribed = subscribed;
    resource.isLost = false;
    subscribed.catch(() => {
      if (resource.subscribed === subscribed) resource.isLost = true;
    });
  }

  /** A server that is off the list ended its subscriptions with its connection. */
  #forgetGone(): void {
    for (const serverId of this.#watched.keys())
      if (!this.#deps.isListed(serverId)) this.#watched.delete(serverId);
  }

  async #unsubscribed({ subscribed }: Watched, serverId: string, uri: string): Promise<void> {
    const [subscription] = await Promise.allSettled([subscribed]);
    if (subscription.status === 'rejected') return;
    try {
      await this.#request(serverId, 'resources/unsubscribe', uri);
    } catch (err) {
      this.#deps.log.debug({ server: serverId, uri, err }, 'a resource is still watched');
    }
  }

  async #request(
    serverId: string,
    method: 'resources/subscribe' | 'resources/unsubscribe',
    uri: string,
  ): Promise<void> {
    await this.#deps.connectionOf(serverId)?.request({ method, params: { uri } });
  }
}

function unwatched(): Watched {
  return {
    watchers: new Map(),
    subscribed: Promise.resolve(),
    unsubscribed: Promise.resolve(),
    isLost: false,
  };
}

/** Nobody's watch gives way: whoever watches would not hear of it. */
function requireCapacity(resources: ReadonlyMap<string, Watched>, uri: string, client: RequestContext): void {
  const resource = resources.get(uri);
  for (const of of client.rights ? HOLDERS : []) {
    const isOwn = ({ watchers }: Watched) =>
      [...watchers.values()].some((watcher) => COUNTS_FOR[of](watcher, client));
    if (resource && isOwn(resource)) continue;
    const most = MAX_WATCHED * SHARES[of];
    if ([...resources.values()].filter(isOwn).length >= most) throw tooManyOf(of, most);
  }
  if (!resource && resources.size >= MAX_WATCHED) throw tooMany();
}

const SUGGESTION = 'Unsubscribe from resources that you no longer need.';

function tooManyOf(of: LimitHolder, limit: number): ServiceError {
  const what = 'watched resources of a tool server';
  return fullShare({ name: 'watchedResources', of, what, suggestion: SUGGESTION }, limit, RETRY_SECONDS);
}

function tooMany(): ServiceError {
  return fullService({
    message: 'Too many resources of this tool server are watched.',
    reason: `clients watch ${MAX_WATCHED} of its resources already`,
    limit: MAX_WATCHED,
    suggestion: SUGGESTION,
    retrySeconds: RETRY_SECONDS,
  });
}
