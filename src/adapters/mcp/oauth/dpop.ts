import { createHash, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import { z } from 'zod';
import type { ProofKey } from './credentials.ts';
import type { Fetch } from './server-metadata.ts';

/** The algorithm that the extension of MCP requires everybody to know. */
export const PROOF_ALGORITHM = 'ES256';
const PublicJwk = z.object({ kty: z.string(), crv: z.string(), x: z.string(), y: z.string() });
const NONCE_HEADER = 'dpop-nonce';

export interface ProofRequest {
  readonly key: ProofKey;
  readonly method: string;
  readonly url: string;
  /** Absent in a request for a token. */
  readonly accessToken?: string;
  /** As the server gave it last. */
  readonly nonce?: string | undefined;
}

export async function newProofKey(): Promise<ProofKey> {
  const { privateKey } = await generateKeyPair(PROOF_ALGORITHM, { extractable: true });
  return { ...(await exportJWK(privateKey)) };
}

/** A proof for one request (RFC 9449). Each has its own id, so that none can be used twice. */
export async function proof({ key, method, url, accessToken, nonce }: ProofRequest): Promise<string> {
  const { origin, pathname } = new URL(url);
  const ath = accessToken && createHash('sha256').update(accessToken).digest('base64url');
  const { kty, crv, x, y } = key;
  return new SignJWT({
    htm: method,
    htu: `${origin}${pathname}`,
    jti: randomUUID(),
    ...(ath && { ath }),
    ...(nonce !== undefined && { nonce }),
  })
    .setProtectedHeader({ typ: 'dpop+jwt', alg: PROOF_ALGORITHM, jwk: PublicJwk.parse({ kty, crv, x, y }) })
    .setIssuedAt()
    .sign(await importJWK({ ...key }, PROOF_ALGORITHM));
}

/** `fetch` for requests for tokens that are to be bound to the key. A nonce that the server wants is sent once. */
export function provingFetch(key: ProofKey, fetch: Fetch): Fetch {
  return async (input, init) => {
    const send = async (nonce?: string): Promise<Response> => {
      const headers = new Headers(init?.headers);
      headers.set('DPoP', await proof({ key, method: init?.method ?? 'GET', url: String(input), nonce }));
      return fetch(input, { ...init, headers });
    };
    const response = await send();
    const nonce = response.headers.get(NONCE_HEADER);
    if (response.ok || nonce === null) return response;
    await response.body?.cancel();
    return send(nonce);
  };
}
