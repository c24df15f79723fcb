import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import { ServiceError } from '../../core/errors.ts';
import type { Logger } from '../../ports/logger.ts';

export interface IssuerKeysDeps {
  /** The issuer's name, for the log. */
  readonly name: string;
  /** Gets the issuer's key set. */
  readonly fetchKeys: () => Promise<unknown>;
  readonly log: Logger;
  /** A clock in milliseconds that never goes back. */
  readonly elapsed: () => number;
}

/** Keys of this age are fetched again before they are used, so that a withdrawn key is noticed. */
export const KEYS_FRESH_MS = 10 * 60_000;
/** While the issuer does not answer, its known keys go on for this long. */
export const KEYS_USABLE_MS = 24 * 3_600_000;
/** Between the end of an attempt and the next one. Tokens with invented keys must not turn into requests to the issuer. */
export const FETCH_COOLDOWN_MS = 10_000;

type KeyFinder = ReturnType<typeof createLocalJWKSet>;

/** jose checks the rest. */
const KeySet = z.custom<JSONWebKeySet>((value) => typeof value === 'object' && value !== null);

/** The public keys of one issuer. Fetches them when they are first needed, and again as they rotate. */
export class IssuerKeys {
  readonly #deps: IssuerKeysDeps;
  #find: KeyFinder | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #isFailing = false;
  #renewing: Promise<boolean> | undefined;

  constructor(deps: IssuerKeysDeps) {
    this.#deps = deps;
  }

  /**
   * The key of a token, by its header. Rejects with errors of jose if there is none, and with `SERVICE_UNAVAILABLE` if the
   * issuer cannot be asked.
   */
  readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    if (this.#ageMs() >= KEYS_FRESH_MS) await this.renew();
    if (this.#ageMs() < KEYS_USABLE_MS) {
      const key = await this.#known(header, token);
      if (key) return key;
    }
    const key = (await this.renew()) ? await this.#known(header, token) : undefined;
    if (key) return key;
    throw this.#isFailing ? this.#unavailable() : new errors.JWKSNoMatchingKey();
  };

  /** Fetches the keys, unless somebody tried just now. Never rejects. @returns whether they were fetched. */
  renew(): Promise<boolean> {
    if (this.#renewing) return this.#renewing;
    if (this.#waitMs() > 0) return Promise.resolve(false);
    this.#renewing = this.#fetch().finally(() => {
      this.#triedAt = this.#deps.elapsed();
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  /** Undefined if no key matches. */
  async #known(...[header, token]: Parameters<JWTVerifyGetKey>): Promise<CryptoKey | undefined> {
    try {
      return await this.#find?.(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return undefined;
      throw error;
    }
  }

  async #fetch(): Promise<boolean> {
    const { name, fetchKeys, log, elapsed } = this.#deps;
    try {
      this.#find = createLocalJWKSet(KeySet.parse(await fetchKeys()));
      this.#fetchedAt = elapsed();
      if (this.#isFailing) log.info({ issuer: name }, 'the keys of the identity provider are there again');
      this.#isFailing = false;
    } catch (err) {
      if (!this.#isFailing)
        log.warn({ issuer: name, err }, 'the keys of an identity provider cannot be fetched');
      this.#isFailing = true;
    }
    return !this.#isFailing;
  }

  #ageMs(): number {
    return this.#deps.elapsed() - this.#fetchedAt;
  }

  #waitMs(): number {
    return this.#triedAt + FETCH_COOLDOWN_MS - this.#deps.elapsed();
  }

  #unavailable(): ServiceError {
    const message = 'The identity provider of this token does not answer. Try again in a moment.';
    const retryAfter = Math.max(1, Math.ceil(this.#waitMs() / 1_000));
    const reason = 'the keys of the identity provider cannot be fetched';
    return new ServiceError('SERVICE_UNAVAILABLE', message, { reason, retryAfter });
  }
}
