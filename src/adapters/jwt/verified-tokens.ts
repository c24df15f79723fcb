import { LRUCache } from 'lru-cache';
import type { Identity } from '../../core/access/identity.ts';

/** A withdrawn key, or changed keys of the issuer, take effect on known tokens after this long. */
const VERIFIED_MS = 10 * 60_000;
/** An entry takes some 300 bytes. */
const MAX_TOKENS = 10_000;

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

/** Tokens that were verified a short while ago, by their hashes. */
export class VerifiedTokens {
  readonly #entries = new LRUCache<string, VerifiedEntry>({ max: MAX_TOKENS });
  readonly #clocks: Clocks;

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  /** @param endsAt the token's `exp`, in milliseconds since the epoch. */
  add(digest: string, identity: Identity, endsAt: number): void {
    const usableUntil = this.#clocks.elapsed() + VERIFIED_MS;
    this.#entries.set(digest, { identity, endsAt, usableUntil });
  }

  find(digest: string): Identity | undefined {
    const entry = this.#entries.get(digest);
    if (!entry) return undefined;
    if (this.#clocks.now() < entry.endsAt && this.#clocks.elapsed() < entry.usableUntil)
      return entry.identity;
    this.#entries.delete(digest);
    return undefined;
  }
}
