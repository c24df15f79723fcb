import { createHash } from 'node:crypto';

/** A key that seals the secrets in the log. */
export interface SecretKey {
  /** Identifies the key without revealing it: the beginning of a hash. */
  readonly fingerprint: string;
  readonly bytes: Uint8Array;
}

/** The key length of AES-256. */
export const KEY_BYTES = 32;

/** @returns undefined unless the text is 32 bytes in base64 (also base64url) or in hexadecimal digits. */
export function parseSecretKey(text: string): SecretKey | undefined {
  const written = text.trim();
  const isHex = /^[0-9a-f]{64}$/i.test(written);
  if (!isHex && !/^[\w+/-]{43}=?$/.test(written)) return undefined;
  return secretKey(Buffer.from(written, isHex ? 'hex' : 'base64'));
}

export function secretKey(bytes: Uint8Array): SecretKey {
  const fingerprint = createHash('sha256').update('agent-service key').update(bytes).digest('hex');
  return { bytes, fingerprint: fingerprint.slice(0, 8) };
}
