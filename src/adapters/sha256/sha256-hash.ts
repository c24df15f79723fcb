import { hash, timingSafeEqual } from 'node:crypto';
import type { SecretHash } from '../../ports/secret-hash.ts';

/** Characters of a hash. */
const LENGTH = 43;
/** For comparing. Each request with an API key does, so they are made once. */
const found = Buffer.alloc(LENGTH);
const wanted = Buffer.alloc(LENGTH);

/** SHA-256, in base64url. */
export const sha256Hash: SecretHash = {
  hash: sha256,
  matches(secret, expected) {
    if (expected.length !== LENGTH) return false;
    // Hashes are compared as text, because Node makes a text faster than a buffer.
    found.write(sha256(secret), 'latin1');
    wanted.write(expected, 'latin1');
    return timingSafeEqual(found, wanted);
  },
};

function sha256(secret: string): string {
  return hash('sha256', secret, 'base64url');
}
