import { exportSPKI, SignJWT, UnsecuredJWT } from 'jose';
import { jwtVerifier } from '../../../src/adapters/jwt/jwt-verifier.ts';
import { JwtIssuerConfig } from '../../../src/config/schema/jwt-config.ts';
import { ROLES } from '../../../src/core/access/scopes.ts';
import type { TokenVerifier } from '../../../src/ports/token-verifier.ts';
import { recordingLog } from '../telemetry/recording-log.ts';
import { SigningIssuer, signingKey } from './signing-issuer.ts';

export interface TokenKinds {
  readonly verifier: TokenVerifier;
  /** A token that is accepted: an admin of the tenant `acme`. */
  readonly right: string;
  /** Tokens that must be accepted nowhere, by what is wrong with them. */
  readonly wrong: Readonly<Record<string, string>>;
}

/** Tokens of an identity provider, as its clients and as attackers have them. */
export async function tokenKinds(): Promise<TokenKinds> {
  const key = await signingKey('k1');
  const issuer = new SigningIssuer('https://sso.example.com', [key]);
  const now = Math.floor(Date.now() / 1_000);
  const claims = { iat: now, exp: now + 300, roles: ['admin'] };
  const config = JwtIssuerConfig.parse({
    name: 'sso',
    issuer: issuer.url,
    audience: 'agent',
    tenant: 'acme',
  });
  const publicKey = new TextEncoder().encode(await exportSPKI(key.publicKey));
  const asAda = { iss: issuer.url, aud: 'agent', sub: 'ada', ...claims };
  return {
    verifier: jwtVerifier([config], { roles: ROLES, log: recordingLog(), fetch: issuer.fetch }),
    right: await issuer.token(claims),
    wrong: {
      expired: await issuer.token({ ...claims, exp: now - 3_600 }),
      'not yet valid': await issuer.token({ ...claims, nbf: now + 3_600 }),
      'wrong issuer': await issuer.token({ ...claims, iss: 'https://evil.example.com' }),
      'wrong audience': await issuer.token({ ...claims, aud: 'another' }),
      'alg none': new UnsecuredJWT(asAda).encode(),
      'HS256 with the public key': await new SignJWT(asAda)
        .setProtectedHeader({ alg: 'HS256', kid: key.kid })
        .sign(publicKey),
      'key of somebody else': await issuer.token(claims, { key: await signingKey('k1') }),
    },
  };
}
