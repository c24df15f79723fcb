import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { z } from 'zod';
import type { PushKeys } from '../../ports/push-signer.ts';

const Jwk = z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() });

/** Keys of Ed25519, as PEM. */
export const ed25519Keys: PushKeys = {
  create() {
    const { privateKey } = generateKeyPairSync('ed25519');
    return String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  },
  signer(pem) {
    const key = createPrivateKey(pem);
    const { kty, crv, x } = Jwk.parse(createPublicKey(key).export({ format: 'jwk' }));
    return {
      publicKey: { kty, crv, x, kid: thumbprint({ crv, kty, x }), alg: 'EdDSA', use: 'sig' },
      sign: (text) => sign(null, Buffer.from(text), key).toString('base64'),
    };
  },
};

/** The thumbprint of RFC 7638, of the members in the order of their names. */
function thumbprint({ crv, kty, x }: { crv: string; kty: string; x: string }): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
}
