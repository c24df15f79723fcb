import { hash } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { JwtIssuerConfig } from '../../config/schema/jwt-config.ts';
import type { Identity } from '../../core/access/identity.ts';
import type { Logger } from '../../ports/logger.ts';
import type { TokenVerifier } from '../../ports/token-verifier.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import { IssuerCheck } from './issuer-check.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { discoverJwksUri } from './key-discovery.ts';
import { type Fetch, fetchJson, type ProviderEndpoint } from './provider-json.ts';
import { asRefusal, refused } from './refusal.ts';
import { type DefinedRoles, endOf, identityOf, principalOf } from './token-identity.ts';
import { type Clocks, VerifiedTokens } from './verified-tokens.ts';

export interface JwtDeps {
  /** All roles of the service with their scopes: the built-in ones and those of `auth.roles`. */
  readonly roles: DefinedRoles;
  readonly log: Logger;
  /** Asks identity providers. */
  readonly fetch?: Fetch;
  /** Times out requests to identity providers. */
  readonly clock?: Clock;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** A clock in milliseconds that never goes back. */
  readonly elapsed?: () => number;
}

/** Tokens of real providers have 1 to 4 KB. */
const MAX_TOKEN_CHARACTERS = 16 * 1024;

/**
 * Verifies access tokens (JWT) of these issuers. It fetches the keys of an issuer when the first token of that issuer
 * comes, and fetches nothing for tokens of others. Load this file only if an issuer is configured: it loads jose.
 */
export function jwtVerifier(issuers: readonly JwtIssuerConfig[], deps: JwtDeps): TokenVerifier {
  return new JwtVerifier(issuers, deps);
}

class JwtVerifier implements TokenVerifier {
  readonly principals: readonly string[];
  readonly #checks: ReadonlyMap<string, IssuerCheck>;
  readonly #verified: VerifiedTokens;
  readonly #roles: DefinedRoles;

  constructor(issuers: readonly JwtIssuerConfig[], { roles, log, ...given }: JwtDeps) {
    const { now = Date.now, elapsed = () => performance.now() } = given;
    const access = { fetch: given.fetch ?? fetch, clock: given.clock ?? systemClock };
    const clocks = { now, elapsed };
    this.principals = issuers.map(({ name }) => principalOf(name, ''));
    this.#roles = roles;
    this.#verified = new VerifiedTokens(clocks);
    this.#checks = new Map(
      issuers.map((issuer) => [issuer.issuer, issuerCheck(issuer, { access, clocks, log })]),
    );
  }

  recognizes(token: string): boolean {
    // In base64url, every JSON object begins with an e.
    return token.startsWith('e') && hasTwoDots(token);
  }

  subjectOf(): null {
    return null;
  }

  verify(token: string): Identity | Promise<Identity> {
    if (token.length > MAX_TOKEN_CHARACTERS) throw refused('too large');
    return this.#verified.find(token) ?? this.#verifyAnew(token);
  }

  async #verifyAnew(token: string): Promise<Identity> {
    try {
      const check = this.#checkFor(token);
      const payload = await check.payloadOf(token);
      const digest = hash('sha256', token, 'base64url');
      const identity = identityOf({ payload, digest }, check.config, this.#roles);
      this.#verified.add(token, identity, endOf(payload));
      return identity;
    } catch (error) {
      throw asRefusal(error);
    }
  }

  /** By the issuer that the token claims to be of. The signature then proves it. */
  #checkFor(token: string): IssuerCheck {
    const { iss } = decodeJwt(token);
    const check = iss === undefined ? undefined : this.#checks.get(iss);
    if (!check) throw refused('wrong issuer');
    return check;
  }
}

interface IssuerDeps {
  readonly access: ProviderEndpoint;
  readonly clocks: Clocks;
  readonly log: Logger;
}

function issuerCheck(config: JwtIssuerConfig, { access, clocks, log }: IssuerDeps): IssuerCheck {
  const { name, issuer, jwksUri } = config;
  const fetchKeys = async (): Promise<unknown> =>
    fetchJson(jwksUri ?? (await discoverJwksUri(issuer, access)), access);
  return new IssuerCheck(
    config,
    new IssuerKeys({ name, fetchKeys, log, elapsed: clocks.elapsed }),
    clocks.now,
  );
}

function hasTwoDots(token: string): boolean {
  const first = token.indexOf('.');
  const second = token.indexOf('.', first + 1);
  return first > 0 && second > first + 1 && !token.includes('.', second + 1);
}
