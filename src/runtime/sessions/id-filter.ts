/** Ids that the first part holds; each further part holds twice as many as the one before. */
const FIRST_CAPACITY = 32_768;
/** With ten bits set for each id, a full part has one false positive in 800. */
const BITS_PER_ID = 14;
const BITS_SET = 10;

/** A Bloom filter, and how many ids it has. */
interface Part {
  readonly bits: Uint32Array;
  readonly capacity: number;
  size: number;
}

/**
 * A set of ids that only grows, and takes about 14 bits for each. It may claim to have an id that
 * was never added, but never the reverse: a scalable Bloom filter.
 */
export class IdFilter {
  readonly #parts: Part[] = [];

  add(id: string): void {
    const hash = hashOf(id);
    if (this.#hasHash(hash)) return;
    let part = this.#parts.at(-1);
    if (!part || part.size === part.capacity) {
      part = newPart(part ? part.capacity * 2 : FIRST_CAPACITY);
      this.#parts.push(part);
    }
    setBits(part, hash);
    part.size += 1;
  }

  mayHave(id: string): boolean {
    return this.#parts.length > 0 && this.#hasHash(hashOf(id));
  }

  #hasHash(hash: Hash): boolean {
    return this.#parts.some((part) => hasBits(part, hash));
  }
}

interface Hash {
  readonly first: number;
  readonly second: number;
}

/** Two independent hashes of 32 bits in one pass: FNV-1a with its own prime and with another one, mixed at the end. */
function hashOf(id: string): Hash {
  let first = 0x811c9dc5;
  let second = 0x9747b28c;
  for (let index = 0; index < id.length; index += 1) {
    const code = id.charCodeAt(index);
    first = Math.imul(first ^ code, 0x01000193);
    second = Math.imul(second ^ code, 0x85ebca6b);
  }
  return { first: mixed(first), second: (mixed(second) | 1) >>> 0 };
}

/** The last step of MurmurHash3: each bit of the hash depends on each bit before. */
function mixed(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function newPart(capacity: number): Part {
  return { bits: new Uint32Array(Math.ceil((capacity * BITS_PER_ID) / 32)), capacity, size: 0 };
}

/** The nth of the bits of an id in a part. Computed for each message, so no list of the bits is allocated. */
function bitAt(nth: number, { first, second }: Hash, { bits }: Part): number {
  return (first + nth * second) % (bits.length * 32);
}

function setBits(part: Part, hash: Hash): void {
  const { bits } = part;
  for (let nth = 0; nth < BITS_SET; nth += 1) {
    const bit = bitAt(nth, hash, part);
    bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }
}

function hasBits(part: Part, hash: Hash): boolean {
  for (let nth = 0; nth < BITS_SET; nth += 1) {
    const bit = bitAt(nth, hash, part);
    if (((part.bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
  }
  return true;
}
