import { LRUCache } from 'lru-cache';
import type { Identity } from '../../core/access/identity.ts';

/** A withdrawn key, or changed keys of the issuer, take effect on known tokens after this long. */
const VERIFIED_MS = 10 * 60_000;
/** Most bytes of all tokens together. Tokens of real providers have 1 to 4 KB. */
const MAX_BYTES = 16_000_000;
/** What an entry takes besides its token. */
const ENTRY_BYTES = 300;

interface VerifiedEntry {
  readonly identity: Identity;
  /** The token's `exp`, in milliseconds since the epoch. */
  readonly endsAt: number;
  /** On the clock that never goes back. */
  readonly usableUntil: number;
}

export interface Clocks {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A clock in milliseconds that never goes back. */
  readonly elapsed: () => number;
}

/** Tokens that were verified a short while ago. They are kept whole, because each request would pay for a hash. */
export class VerifiedTokens {
  readonly #entries = new LRUCache<string, VerifiedEntry>({
    maxSize: MAX_BYTES,
    sizeCalculation: (_, token) => token.length + ENTRY_BYTES,
  });
  readonly #clocks: Clocks;

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  /** @param endsAt the token's `exp`, in milliseconds since the epoch. */
  add(token: string, identity: Identity, endsAt: number): void {
    const usableUntil = this.#clocks.elapsed() + VERIFIED_MS;
    this.#entries.set(token, { identity, endsAt, usableUntil });
  }

  find(token: string): Identity | undefined {
    const entry = this.#entries.get(token);
    if (!entry) return undefined;
    if (this.#clocks.now() < entry.endsAt && this.#clocks.elapsed() < entry.usableUntil)
      return entry.identity;
    this.#entries.delete(token);
    return undefined;
  }
}
