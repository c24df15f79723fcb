import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { SealedError, type SecretBox } from '../../ports/secret-box.ts';
import type { KeyRing } from './key-ring.ts';

const CIPHER = 'aes-256-gcm';
/** The nonce length that GCM is made for, and the length of its full tag. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** A format version, the key's fingerprint, then nonce, cipher text and tag in base64url. */
const SEALED = /^1\.([0-9a-f]{8})\.([\w-]+)$/;

/** Seals with AES-256-GCM and a key of the ring. */
export function sealedBox(keys: KeyRing): SecretBox {
  return {
    async seal(text, about) {
      const { bytes, fingerprint } = await keys.current();
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, bytes, nonce).setAAD(Buffer.from(about));
      const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return `1.${fingerprint}.${Buffer.concat(parts).toString('base64url')}`;
    },

    async open(sealed, about) {
      const [, fingerprint = '', data = ''] = SEALED.exec(sealed) ?? [];
      if (fingerprint === '') throw new SealedError('this is no seal of agent-service');
      const key = await keys.find(fingerprint);
      if (key === undefined) {
        throw new SealedError(
          `it was sealed with the key ${fingerprint}, but there is no such key in ${keys.places.join(' or in ')}`,
        );
      }
      const bytes = Buffer.from(data, 'base64url');
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const tag = bytes.subarray(-TAG_BYTES);
      try {
        // Decoding drops the last bits of the last character, so several texts give the same bytes.
        if (bytes.toString('base64url') !== data) throw new Error('the base64url text is not canonical');
        const decipher = createDecipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(about)).setAuthTag(tag);
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (error) {
        throw new SealedError('the seal is broken: its text was changed, or it belongs to another secret', {
          cause: error,
        });
      }
    },

    async isOutdated(sealed) {
      const [, fingerprint] = SEALED.exec(sealed) ?? [];
      if (fingerprint === undefined || (await keys.find(fingerprint)) === undefined) return false;
      return (await keys.current()).fingerprint !== fingerprint;
    },
  };
}
