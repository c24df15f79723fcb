import { limitExceeded } from '../../core/limit-errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { ClientLimits } from './client-limits.ts';
import { type Allowance, limitHeaders, type RateLimits } from './rate-limits.ts';

/** The REST interfaces, and where anybody can make this node ask the others. */
const LIMITED = ['/api/', '/v1/', '/a2a', '/ag-ui', '/oauth/'];

export interface TallyDeps {
  readonly limits: Pick<RateLimits, 'requests'>;
  /** Absent where nobody is authenticated. */
  readonly clientLimits?: ClientLimits | undefined;
}

/**
 * Counts one request once: for its client and the client's tenant, or for its address if it does not show, or need not
 * show, who sends it. So users behind one proxy do not share a limit, and whoever guesses is limited by address.
 */
export class RequestTally {
  readonly #deps: TallyDeps;
  readonly #isByAddress: boolean;
  #allowance: Allowance | null = null;
  #isCounted = false;

  /** @param path others than those above are not limited by address. */
  constructor(deps: TallyDeps, path: string) {
    this.#deps = deps;
    this.#isByAddress = LIMITED.some((prefix) => path.startsWith(prefix));
  }

  get headers(): Record<string, string> {
    return limitHeaders(this.#allowance);
  }

  /** Call first. Where nobody is authenticated, the address is all that is known of a client. */
  begin(address: string): void {
    if (!this.#deps.clientLimits) this.byAddress(address);
  }

  /**
   * Call instead, for a preflight: a browser sends it by itself before the request that its page asks for, and it costs no more than
   * its answer. The address hears how much it has left.
   */
  preflight(address: string): void {
    this.#isCounted = true;
    if (this.#isByAddress) this.#allowance = this.#deps.limits.requests.look(address);
  }

  /** Throws if the address has sent too many. */
  byAddress(address: string): void {
    if (this.#isCounted) return;
    this.#isCounted = true;
    if (!this.#isByAddress) return;
    const allowance = this.#deps.limits.requests.take(address);
    this.#allowance = allowance;
    if (allowance?.exceeded)
      throw limitExceeded(`${allowance.limit} requests per minute and address`, allowance);
  }

  /** Throws if the client, or its tenant, has sent too many. */
  byClient(client: RequestContext): void {
    if (this.#isCounted) return;
    this.#isCounted = true;
    this.#take(client);
  }

  /** Counts the further requests of one that was counted. Throws as `byClient` does. */
  further(client: RequestContext, requests: number): void {
    for (let request = 0; request < requests; request += 1) this.#take(client);
  }

  /** What is answered to a request that failed with this error, perhaps before it was counted. */
  refusal(thrown: unknown, address: string): unknown {
    try {
      this.byAddress(address);
      return thrown;
    } catch (tooMany) {
      return tooMany;
    }
  }

  #take(client: RequestContext): void {
    const { clientLimits } = this.#deps;
    if (!clientLimits) return;
    const { allowance, refusal } = clientLimits.request(client);
    this.#allowance = allowance;
    if (refusal) throw refusal;
  }
}
