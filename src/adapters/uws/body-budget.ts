import { type Owner, ownPrefix } from '../../core/access/session-names.ts';
import { SHARES } from '../../core/access/shares.ts';
import type { ServiceError } from '../../core/errors.ts';
import { fullService, fullShare, type LimitHolder } from '../../core/limit-errors.ts';
import { MEGABYTE } from '../../core/size-limits.ts';

const RETRY_SECONDS = 5;

/** What a body takes, or is about to take, and whose it is: null while nobody knows, and of a client that is nobody. */
export interface BodyShare {
  readonly client: Owner | null;
  /** What the body has taken already. */
  readonly taken: number;
}

/**
 * How much memory the bodies of requests, and large answers, take together. Clients send and read them as slowly as they like, so
 * that many large ones could fill the memory. A client that is known has a share, and so has its tenant. Either may
 * exceed it with a body that is its only one.
 */
export class BodyBudget {
  readonly #maxBytes: number;
  #taken = 0;
  /** What those who have taken something have taken. */
  readonly #takenBy: Readonly<Record<LimitHolder, Map<string, number>>> = {
    principal: new Map(),
    tenant: new Map(),
  };

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns the refusal, for the client; null if the bytes are reserved. */
  reserve(bytes: number, { client, taken }: BodyShare): ServiceError | null {
    if (this.#taken + bytes > this.#maxBytes) return allTaken(this.#maxBytes);
    for (const [of, holder] of holdersOf(client)) {
      const others = (this.#takenBy[of].get(holder) ?? 0) - taken;
      const most = Math.floor(this.#maxBytes * SHARES[of]);
      if (others > 0 && others + taken + bytes > most) return fullShareOf(of, most);
    }
    this.#add(bytes, client);
    return null;
  }

  release(bytes: number, client: Owner | null): void {
    this.#add(-bytes, client);
  }

  #add(bytes: number, client: Owner | null): void {
    this.#taken += bytes;
    for (const [of, holder] of holdersOf(client)) {
      const taken = (this.#takenBy[of].get(holder) ?? 0) + bytes;
      if (taken > 0) this.#takenBy[of].set(holder, taken);
      else this.#takenBy[of].delete(holder);
    }
  }
}

/** The smallest first. */
function holdersOf(client: Owner | null): (readonly [LimitHolder, string])[] {
  return client
    ? [
        ['principal', ownPrefix(client)],
        ['tenant', client.tenant],
      ]
    : [];
}

function fullShareOf(of: LimitHolder, limit: number): ServiceError {
  const what = 'bytes of large requests and answers at once';
  const suggestion = 'Send large requests, and read large answers, one after the other.';
  return fullShare({ name: 'requestBodies', of, what, suggestion }, limit, RETRY_SECONDS);
}

function allTaken(limit: number): ServiceError {
  return fullService({
    message: 'The service works on too many large requests or answers. Try again later.',
    reason: `the bodies of all requests and large answers may take ${Math.floor(limit / MEGABYTE)} MB of memory together`,
    limit,
    retrySeconds: RETRY_SECONDS,
  });
}
