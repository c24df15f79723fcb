import { hash, timingSafeEqual } from 'node:crypto';
import type { SecretHash } from '../../ports/secret-hash.ts';

/** SHA-256, in base64url. */
export const sha256Hash: SecretHash = {
  hash: (secret) => hash('sha256', secret, 'base64url'),
  matches(secret, expected) {
    const found = hash('sha256', secret, 'buffer');
    const wanted = Buffer.from(expected, 'base64url');
    return found.length === wanted.length && timingSafeEqual(found, wanted);
  },
};
