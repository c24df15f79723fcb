import { hash, timingSafeEqual } from 'node:crypto';
import type { SecretHash } from '../../ports/secret-hash.ts';

/** SHA-256, in base64url. */
export const sha256Hash: SecretHash = {
  hash: sha256,
  matches(secret, expected) {
    // Hashes are compared as text, because Node makes a text faster than a buffer.
    const [found, wanted] = [Buffer.from(sha256(secret)), Buffer.from(expected)];
    return found.length === wanted.length && timingSafeEqual(found, wanted);
  },
};

function sha256(secret: string): string {
  return hash('sha256', secret, 'base64url');
}
