/**
 * An API key, whose text is `as_` + id + `_` + secret + checksum: 50 characters, all parts in base62 (`0-9A-Za-z`). The
 * checksum is the CRC-32 of the 44 characters before it, so that a program that looks for leaked secrets has no false
 * positives: it finds `\bas_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}\b` and checks the checksum.
 */
export interface ApiKey {
  /** 8 characters that name the key. They are not secret. */
  readonly keyId: string;
  /** 32 random characters: 190 bits. */
  readonly secret: string;
}

const PREFIX = 'as_';
const ID_LENGTH = 8;
const SECRET_LENGTH = 32;
/** 62 ** 6 is more than 2 ** 32. */
const CHECKSUM_LENGTH = 6;
const KEY = /^as_([0-9A-Za-z]{8})_([0-9A-Za-z]{32})[0-9A-Za-z]{6}$/;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 4 × 62. Larger bytes would make the first characters of the alphabet likelier than the others. */
const FAIR_BYTES = 248;

export function generateApiKey(): ApiKey {
  return { keyId: randomText(ID_LENGTH), secret: randomText(SECRET_LENGTH) };
}

export function formatApiKey({ keyId, secret }: ApiKey): string {
  const text = `${PREFIX}${keyId}_${secret}`;
  return `${text}${checksumOf(text)}`;
}

/** Whether the text begins as an API key does. */
export function looksLikeApiKey(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Null unless the text has the form of an API key and the right checksum. */
export function parseApiKey(text: string): ApiKey | null {
  const [, keyId, secret] = KEY.exec(text) ?? [];
  if (keyId === undefined || secret === undefined) return null;
  const checked = text.length - CHECKSUM_LENGTH;
  return checksumOf(text.slice(0, checked)) === text.slice(checked) ? { keyId, secret } : null;
}

function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}

/** What each byte adds to a CRC-32. Every request with a key computes one. */
const CRC_OF_BYTE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb8_8320 : crc >>> 1;
  return crc;
});

/** CRC-32 of ASCII text, as in zlib and PNG. */
function crc32(text: string): number {
  let crc = 0xffff_ffff;
  for (let index = 0; index < text.length; index += 1)
    crc = (CRC_OF_BYTE[(crc ^ text.charCodeAt(index)) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffff_ffff) >>> 0;
}

function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length - text.length))) {
      if (byte < FAIR_BYTES) text += BASE62.charAt(byte % BASE62.length);
    }
  }
  return text;
}
