import type { JWTHeaderParameters, JWTPayload } from 'jose';

/** `at+jwt` is RFC 9068; many providers write `JWT`, or nothing. Other types are for logouts, events and proofs. */
const ACCESS_TOKEN_TYPES: readonly unknown[] = [undefined, 'jwt', 'at+jwt'];
/** Keycloak writes what a token is for into its payload. */
const OTHER_PURPOSES: readonly unknown[] = ['ID', 'Refresh', 'Offline', 'Logout'];

/** Media types are case-insensitive, and `application/` may be left out. */
function typeOf({ typ }: JWTHeaderParameters): unknown {
  return typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
}

/** Whether a token is an access token that is good for whoever bears it. */
export function isBearerToken(header: JWTHeaderParameters, payload: JWTPayload): boolean {
  if (!ACCESS_TOKEN_TYPES.includes(typeOf(header)) || OTHER_PURPOSES.includes(payload.typ)) return false;
  // `cnf` binds the token to a key (DPoP, mutual TLS). Accepted without its proof, a stolen token would work.
  return payload.cnf === undefined;
}
