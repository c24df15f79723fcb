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
   * Throws `RATE_LIMIT_EXCEEDED`. Synchronous, so that concurrent callers are counted exactly. Call `leave` once when the
   * connection is over: a function for each of thousands of connections would take memory.
   */
  enter(client: RequestContext, address: string): void {
    const limits = this.#limitsOf(client);
    if (limits) limits.connect(client);
    else this.#enterByAddress(address);
  }

  /** @param client of `enter`; it may have another credential by now. */
  leave(client: RequestContext, address: string): void {
    const limits = this.#limitsOf(client);
    if (limits) limits.disconnect(client);
    else this.#byAddress.leave(address);
  }

  #enterByAddress(address: string): void {
    const refusal = this.#byAddress.enter(address);
    if (refusal) throw tooManyConnections(refusal);
  }

  #limitsOf({ rights }: RequestContext): ClientLimits | undefined {
    return rights && this.#clientLimits;
  }
}
