import type { JWTPayload } from 'jose';
import type { JwtIssuerConfig } from '../../config/schema/jwt-config.ts';
import { DEFAULT_TENANT, type Identity, TenantId } from '../../core/access/identity.ts';
import { Scope, scopesOf } from '../../core/access/scopes.ts';
import { claimName, isName, nameAt, namesAt, onlyNameAt, wordsAt } from './claim-values.ts';
import { refused } from './refusal.ts';

/** Dates end here, in milliseconds since the epoch. */
const LAST_DATE = 8.64e15;

export interface VerifiedToken {
  readonly payload: JWTPayload;
  /** A hash of the token. */
  readonly digest: string;
}

/** All roles of the service with their scopes. */
export type DefinedRoles = Readonly<Record<string, readonly Scope[]>>;

/** Who has shown a token whose signature and times are right. Throws `UNAUTHORIZED` if the claims do not say it. */
export function identityOf(token: VerifiedToken, issuer: JwtIssuerConfig, defined: DefinedRoles): Identity {
  const { payload, digest } = token;
  const roles = rolesOf(payload, issuer);
  const credential = isName(payload.jti) ? payload.jti : digest.slice(0, 22);
  return {
    principal: principalOf(issuer.name, nameAt(payload, issuer.claims.principal)),
    tenant: tenantOf(payload, issuer),
    roles,
    scopes: withGranted(scopesOf(roles, defined), payload, issuer),
    credential: `jwt:${issuer.name}:${credential}`,
    // The service accepts the token for as long as the clocks may differ.
    expiresAt: Math.min(endOf(payload) + issuer.clockSkewSeconds * 1_000, LAST_DATE),
  };
}

/** The end of a token, in milliseconds since the epoch. */
export function endOf({ exp }: JWTPayload): number {
  // JSON can write a number that is infinite: 1e999.
  if (exp === undefined || !Number.isFinite(exp)) throw refused('invalid claim', 'exp');
  return exp * 1_000;
}

function tenantOf(payload: JWTPayload, { claims, tenant = DEFAULT_TENANT }: JwtIssuerConfig): TenantId {
  if (claims.tenant === undefined) return tenant;
  const named = TenantId.safeParse(onlyNameAt(payload, claims.tenant));
  if (!named.success) throw refused('invalid claim', claimName(claims.tenant));
  return named.data;
}

function rolesOf(payload: JWTPayload, { claims, roles: map, defaultRoles }: JwtIssuerConfig): string[] {
  const theirs = namesAt(payload, claims.roles);
  const ours =
    map === undefined ? theirs : theirs.flatMap((role) => (Object.hasOwn(map, role) ? map[role] : []));
  return [...new Set([...defaultRoles, ...ours.filter(isName)])];
}

function withGranted(
  scopes: ReadonlySet<Scope>,
  payload: JWTPayload,
  { claims }: JwtIssuerConfig,
): ReadonlySet<Scope> {
  if (claims.scope === undefined) return scopes;
  const granted = wordsAt(payload, claims.scope).flatMap((word) => Scope.safeParse(word).data ?? []);
  // `scopesOf` knows that `admin` includes the others.
  return scopesOf(['all'], { all: [...scopes, ...granted] });
}

/** @param issuer the name that the service has for it. */
export function principalOf(issuer: string, name: string): string {
  return `${issuer}:${name}`;
}
