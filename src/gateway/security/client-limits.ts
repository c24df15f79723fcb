import type { AuthLimits } from '../../config/schema/auth-limits.ts';
import { auditedClient } from '../../core/access/audited-client.ts';
import { ownPrefix } from '../../core/access/session-names.ts';
import type { ServiceError } from '../../core/errors.ts';
import { clientLimitExceeded, type LimitHolder } from '../../core/limit-errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Audit } from '../../ports/audit.ts';
import { type Allowance, ConcurrencyLimit, WindowLimit } from './rate-limits.ts';

/** The limits of each principal, or of each tenant. */
interface Level {
  readonly of: LimitHolder;
  keyOf(client: RequestContext): string;
  readonly requests: WindowLimit;
  readonly messages: WindowLimit;
  readonly connections: ConcurrencyLimit;
}

/** A request that was counted. */
export interface Counted {
  /** The allowance of the tighter limit. Null if neither the principal nor its tenant has one. */
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
  readonly #audit: Pick<Audit, 'record'>;

  /** @param audit hears what is refused. */
  constructor({ principal, tenant }: AuthLimits, audit: Pick<Audit, 'record'>) {
    this.#audit = audit;
    this.#levels = [
      { of: 'principal', keyOf: ownPrefix, ...limitsOf(principal) },
      { of: 'tenant', keyOf: (client) => client.tenant, ...limitsOf(tenant) },
    ];
  }

  /** Counts a request. */
  request(client: RequestContext): Counted {
    const counted = this.#take('requests', client);
    if (counted.refusal) this.#recorded(counted.refusal, client);
    return counted;
  }

  /** Counts a message. Throws `RATE_LIMIT_EXCEEDED`, which whoever asks records. */
  message(client: RequestContext): void {
    const { refusal } = this.#take('messages', client);
    if (refusal) throw refusal;
  }

  /** Throws `RATE_LIMIT_EXCEEDED`. Otherwise call `disconnect` once when the connection is over. */
  connect(client: RequestContext): void {
    const entered: Level[] = [];
    for (const level of this.#levels) {
      const refusal = level.connections.enter(level.keyOf(client));
      if (refusal) {
        leave(entered, client);
        const { of } = level;
        throw this.#recorded(clientLimitExceeded({ ...NAMES.connections, of }, refusal), client);
      }
      entered.push(level);
    }
  }

  disconnect(client: RequestContext): void {
    leave(this.#levels, client);
  }

  /** How often each limit was exceeded. */
  get refusals(): Record<keyof typeof NAMES, number> {
    const sum = (of: keyof typeof NAMES) =>
      this.#levels.reduce((total, level) => total + level[of].refusals, 0);
    return { requests: sum('requests'), messages: sum('messages'), connections: sum('connections') };
  }

  #take(what: 'requests' | 'messages', client: RequestContext): Counted {
    let tightest: Allowance | null = null;
    for (const level of this.#levels) {
      const allowance = level[what].take(level.keyOf(client));
      if (allowance?.exceeded)
        return { allowance, refusal: clientLimitExceeded({ ...NAMES[what], of: level.of }, allowance) };
      if (allowance && allowance.remaining < (tightest?.remaining ?? Infinity)) tightest = allowance;
    }
    return { allowance: tightest, refusal: null };
  }

  #recorded(error: ServiceError, client: RequestContext): ServiceError {
    const { name, of } = error.details;
    const reason = `${name} of the ${of}`;
    this.#audit.record({ ...auditedClient(client), what: 'limit', outcome: error.code, reason });
    return error;
  }
}

function leave(levels: readonly Level[], client: RequestContext): void {
  for (const { connections, keyOf } of levels) connections.leave(keyOf(client));
}

function limitsOf(limits: AuthLimits[LimitHolder]): Omit<Level, 'of' | 'keyOf'> {
  return {
    requests: new WindowLimit(limits.requestsPerMinute),
    messages: new WindowLimit(limits.messagesPerMinute),
    connections: new ConcurrencyLimit(limits.connections),
  };
}
