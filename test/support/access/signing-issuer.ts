import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

export async function signingKey(kid: string, alg = 'RS256'): Promise<SigningKey> {
  return { kid, alg, ...(await generateKeyPair(alg, { extractable: true })) };
}

async function publicJwk({ kid, alg, publicKey }: SigningKey): Promise<JWK> {
  return { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
}

export interface Signing {
  /** By default the issuer's first key. */
  readonly key?: SigningKey;
  /** Beside `alg` and `kid`; undefined removes a parameter. */
  readonly header?: Record<string, unknown>;
}

/** The time at which tests begin, in milliseconds since the epoch. */
export const TEST_TIME = Date.UTC(2026, 0, 1);

/** An identity provider inside the test: it signs tokens, and answers requests for its metadata and keys. */
export class SigningIssuer {
  readonly url: string;
  /** The keys that it publishes. */
  keys: SigningKey[];
  /** The URLs that were asked for. */
  readonly requests: string[] = [];
  /** Answers instead of the issuer. */
  respond: ((url: string) => Response | Promise<Response> | undefined) | undefined;

  constructor(url: string, keys: SigningKey[]) {
    this.url = url;
    this.keys = keys;
  }

  /** A token of 5 minutes for the audience `agent`; undefined removes a claim. */
  token(claims: JWTPayload = {}, { key = this.keys[0], header }: Signing = {}): Promise<string> {
    if (!key) throw new Error('the issuer has no key');
    const iat = TEST_TIME / 1_000;
    const payload = { iss: this.url, aud: 'agent', sub: 'ada', iat, exp: iat + 300, ...claims };
    return new SignJWT(payload)
      .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
      .sign(key.privateKey);
  }

  readonly fetch = async (url: string): Promise<Response> => {
    this.requests.push(url);
    const answer = await this.respond?.(url);
    if (answer) return answer;
    if (url === `${this.url}/.well-known/openid-configuration`)
      return Response.json({ issuer: this.url, jwks_uri: `${this.url}/jwks` });
    if (url === `${this.url}/jwks`)
      return Response.json({ keys: await Promise.all(this.keys.map(publicJwk)) });
    return new Response(null, { status: 404 });
  };
}
