import type { AuthLimits } from '../../config/schema/auth-limits.ts';
import { ownPrefix } from '../../core/access/session-names.ts';
import type { ServiceError } from '../../core/errors.ts';
import { clientLimitExceeded, type LimitHolder } from '../../core/limit-errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { type Allowance, ConcurrencyLimit, WindowLimit } from './rate-limits.ts';

type Client = Pick<RequestContext, 'principal' | 'tenant'>;

/** The limits of each principal, or of each tenant. */
interface Level {
  readonly of: LimitHolder;
  keyOf(client: Client): string;
  readonly requests: WindowLimit;
  readonly messages: WindowLimit;
  readonly connections: ConcurrencyLimit;
}

/** A request that was counted. */
export interface Counted {
  /** Of the tighter limit. Null if neither the principal nor its tenant has one. */
  readonly allowance: Allowance | null;
  /** Null if there was room. */
  readonly refusal: ServiceError | null;
}

const NAMES = {
  requests: { name: 'requestsPerMinute', what: 'requests per minute' },
  messages: { name: 'messagesPerMinute', what: 'messages per minute' },
  connections: { name: 'connections', what: 'open connections' },
} as const;

/**
 * What authenticated clients may use: each principal, and all principals of a tenant together. What is refused to a
 * principal is not taken from its tenant, so that nobody can use up what belongs to all.
 */
export class ClientLimits {
  readonly #levels: readonly Level[];

  constructor({ principal, tenant }: AuthLimits) {
    this.#levels = [
      { of: 'principal', keyOf: ownPrefix, ...limitsOf(principal) },
      { of: 'tenant', keyOf: (client) => client.tenant, ...limitsOf(tenant) },
    ];
  }

  /** Counts a request. */
  request(client: Client): Promise<Counted> {
    return this.#take('requests', client);
  }

  /** Counts a message. Rejects with `RATE_LIMIT_EXCEEDED`. */
  async message(client: Client): Promise<void> {
    const { refusal } = await this.#take('messages', client);
    if (refusal) throw refusal;
  }

  /** Throws `RATE_LIMIT_EXCEEDED`. @returns what to call once when the connection is over. */
  connect(client: Client): () => void {
    const entered: (() => void)[] = [];
    const leave = (): void => {
      for (const left of entered) left();
    };
    for (const { of, keyOf, connections } of this.#levels) {
      const key = keyOf(client);
      const refusal = connections.enter(key);
      if (refusal) {
        leave();
        throw clientLimitExceeded({ ...NAMES.connections, of }, refusal);
      }
      entered.push(() => connections.leave(key));
    }
    return leave;
  }

  /** How often each limit was exceeded. */
  get refusals(): Record<keyof typeof NAMES, number> {
    const sum = (of: keyof typeof NAMES) =>
      this.#levels.reduce((total, level) => total + level[of].refusals, 0);
    return { requests: sum('requests'), messages: sum('messages'), connections: sum('connections') };
  }

  async #take(what: 'requests' | 'messages', client: Client): Promise<Counted> {
    let tightest: Allowance | null = null;
    for (const level of this.#levels) {
      const allowance = await level[what].take(level.keyOf(client));
      if (allowance?.exceeded)
        return { allowance, refusal: clientLimitExceeded({ ...NAMES[what], of: level.of }, allowance) };
      if (allowance && allowance.remaining < (tightest?.remaining ?? Infinity)) tightest = allowance;
    }
    return { allowance: tightest, refusal: null };
  }
}

function limitsOf(limits: AuthLimits[LimitHolder]): Omit<Level, 'of' | 'keyOf'> {
  return {
    requests: new WindowLimit(limits.requestsPerMinute),
    messages: new WindowLimit(limits.messagesPerMinute),
    connections: new ConcurrencyLimit(limits.connections),
  };
}
