import {
  type CryptoKey,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose';
import type { JwtIssuerConfig } from '../../config/schema/jwt-config.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import { refused } from './refusal.ts';
import { isBearerToken } from './token-type.ts';

/** Checks the tokens of one issuer. */
export class IssuerCheck {
  readonly config: JwtIssuerConfig;
  readonly #keys: IssuerKeys;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch. */
  constructor(config: JwtIssuerConfig, keys: IssuerKeys, now: () => number) {
    this.config = config;
    this.#keys = keys;
    this.#now = now;
  }

  /** The payload of a token that is right in every respect. Rejects with errors of jose, and with refusals. */
  async payloadOf(token: string): Promise<JWTPayload> {
    const { payload, protectedHeader } = await this.#verified(token);
    if (!isBearerToken(protectedHeader, payload)) throw refused('wrong type');
    return payload;
  }

  async #verified(token: string): Promise<JWTVerifyResult> {
    try {
      return await this.#verifiedByKnownKeys(token);
    } catch (error) {
      // A token that names no key may be signed with a key that is not known yet.
      if (!isSignatureWrong(error) || hasKeyId(token) || !(await this.#keys.renew())) throw error;
      return await this.#verifiedByKnownKeys(token);
    }
  }

  async #verifiedByKnownKeys(token: string): Promise<JWTVerifyResult> {
    try {
      return await jwtVerify(token, this.#keys.keyOf, this.#options());
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      return this.#verifiedByOneOf(error, token);
    }
  }

  async #verifiedByOneOf(keys: AsyncIterable<CryptoKey>, token: string): Promise<JWTVerifyResult> {
    for await (const key of keys) {
      try {
        return await jwtVerify(token, key, this.#options());
      } catch (error) {
        if (!isSignatureWrong(error)) throw error;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }

  #options(): JWTVerifyOptions {
    const { issuer, audience, algorithms, clockSkewSeconds } = this.config;
    const currentDate = new Date(this.#now());
    const requiredClaims = ['exp'];
    return { issuer, audience, algorithms, clockTolerance: clockSkewSeconds, currentDate, requiredClaims };
  }
}

function isSignatureWrong(error: unknown): boolean {
  return error instanceof errors.JWSSignatureVerificationFailed;
}

function hasKeyId(token: string): boolean {
  return decodeProtectedHeader(token).kid !== undefined;
}
