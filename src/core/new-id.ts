/** One call for the random bytes of so many ids. */
const AT_ONCE = 128;
const BYTES = 16;

const random = new Uint8Array(AT_ONCE * BYTES);
let used = random.length;

const DIGITS = new TextEncoder().encode('0123456789abcdef');
/** Where the digits of each byte go, between the hyphens. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const codes = Array.from('00000000-0000-0000-0000-000000000000', (character) => character.charCodeAt(0));

/**
 * A random UUID (RFC 9562, version 4) for what each message needs several of. `crypto.randomUUID` makes the text of 20
 * pieces, which take ten times the memory until somebody reads the text.
 */
export function newId(): string {
  if (used === random.length) {
    crypto.getRandomValues(random);
    used = 0;
  }
  for (let index = 0; index < BYTES; index += 1) {
    const byte = withVersion(random[used + index] ?? 0, index);
    const place = PLACES[index] ?? 0;
    codes[place] = DIGITS[byte >> 4] ?? 0;
    codes[place + 1] = DIGITS[byte & 0xf] ?? 0;
  }
  used += BYTES;
  return String.fromCharCode(...codes);
}

function withVersion(byte: number, index: number): number {
  if (index === 6) return (byte & 0x0f) | 0x40;
  return index === 8 ? (byte & 0x3f) | 0x80 : byte;
}
