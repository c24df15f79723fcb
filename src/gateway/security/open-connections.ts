import type { RequestContext } from '../../core/request/request-context.ts';
import type { ClientLimits } from './client-limits.ts';
import { type RateLimits, tooManyConnections } from './rate-limits.ts';

/** Counts the open connections of each client and its tenant, or of each address if the client is not known. */
export class OpenConnections {
  readonly #byAddress: RateLimits['connections'];
  readonly #clientLimits: ClientLimits | undefined;

  constructor({ connections }: Pick<RateLimits, 'connections'>, clientLimits?: ClientLimits) {
    this.#byAddress = connections;
    this.#clientLimits = clientLimits;
  }

  /**
   * Throws `RATE_LIMIT_EXCEEDED`. Synchronous, so that concurrent callers are counted exactly.
   * @returns what to call once when the connection is over.
   */
  enter(client: RequestContext, address: string): () => void {
    if (client.rights && this.#clientLimits) return this.#clientLimits.connect(client);
    const refusal = this.#byAddress.enter(address);
    if (refusal) throw tooManyConnections(refusal);
    return () => this.#byAddress.leave(address);
  }
}
