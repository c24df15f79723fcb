import { afterLeaving, type RequestContext } from '../../../core/request/request-context.ts';
import type { Bus, Unsubscribe } from '../../../ports/bus.ts';
import type { Logger } from '../../../ports/logger.ts';
import { firstToAccept } from './first-to-accept.ts';
import type { Offers } from './offers.ts';
import type { ListedResource } from './public-uris.ts';
import { errorOf } from './request-forwarder.ts';

export interface ResourceWatchesDeps {
  readonly bus: Bus;
  readonly log: Logger;
  readonly offers: Offers;
}

/** A resource of a server, and the address by which a client watches it. */
interface WatchedAt extends ListedResource {
  readonly address: string;
}

/**
 * The resources that clients watch, and by which addresses. The public address of a resource changes when a second server
 * lists it, or no longer does. A client that watches it hears of it under the address that it has asked for.
 */
export class ResourceWatches {
  readonly #deps: ResourceWatchesDeps;
  /** How many watches use an address, by resource. */
  readonly #uses = new Map<string, Map<string, number>>();

  constructor(deps: ResourceWatchesDeps) {
    this.#deps = deps;
  }

  async watch(address: string, context: RequestContext): Promise<Unsubscribe> {
    const servers = await this.#deps.offers.watchableServersOf(address, context);
    return firstToAccept(servers, address, (server) => this.#watchAt({ ...server, address }, context));
  }

  /** By which addresses the resource is watched. */
  addressesOf(resource: ListedResource): Iterable<string> {
    return this.#uses.get(keyOf(resource))?.keys() ?? [];
  }

  async #watchAt(watched: WatchedAt, context: RequestContext): Promise<Unsubscribe> {
    const { bus, log } = this.#deps;
    const { serverId, uri } = watched;
    const request = { watchId: crypto.randomUUID(), serverId, uri };
    // The server may tell of a change before its answer is here.
    this.#use(watched);
    try {
      const answer = await bus.send('resource.watch', request, context);
      if ('error' in answer) throw errorOf(answer.error);
    } catch (error) {
      this.#disuse(watched);
      throw error;
    }
    return () => {
      this.#disuse(watched);
      bus.send('resource.unwatch', request, afterLeaving(context)).catch((err: unknown) => {
        log.warn({ server: serverId, err }, 'a resource is still watched');
      });
    };
  }

  #use({ address, ...resource }: WatchedAt): void {
    const key = keyOf(resource);
    const uses = this.#uses.get(key) ?? new Map<string, number>();
    this.#uses.set(key, uses.set(address, (uses.get(address) ?? 0) + 1));
  }

  #disuse({ address, ...resource }: WatchedAt): void {
    const key = keyOf(resource);
    const uses = this.#uses.get(key);
    if (!uses) return;
    const left = (uses.get(address) ?? 1) - 1;
    if (left > 0) uses.set(address, left);
    else uses.delete(address);
    if (uses.size === 0) this.#uses.delete(key);
  }
}

function keyOf({ serverId, uri }: ListedResource): string {
  return JSON.stringify([serverId, uri]);
}
