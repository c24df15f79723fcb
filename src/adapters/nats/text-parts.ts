/** Bytes of parts whose texts are not complete. Beyond it, the oldest text is given up. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Room for the head of a part. */
const HEAD_BYTES = 96;
/** Most parts of a text that fits into `MAX_BYTES`, if the server takes messages of a kilobyte at least. */
const MAX_PARTS = 65_536;
const WHOLE = '.';
const PART = '+';

interface Unfinished {
  readonly parts: (Buffer | undefined)[];
  missing: number;
  bytes: number;
}

/** A text as one message, or as several if it is too long for one. @param id of the text; used once. */
export function* messagesOf(text: string, id: string, maxBytes: number): Generator<string | Buffer> {
  // No character takes more than three bytes for each of its code units.
  if (3 * text.length < maxBytes || Buffer.byteLength(text) < maxBytes) {
    yield WHOLE + text;
    return;
  }
  const bytes = Buffer.from(text);
  const size = maxBytes - HEAD_BYTES;
  const count = Math.ceil(bytes.length / size);
  for (let index = 0; index < count; index += 1) {
    const head = Buffer.from(`${PART}${id} ${index} ${count}\n`);
    yield Buffer.concat([head, bytes.subarray(index * size, (index + 1) * size)]);
  }
}

/** Makes the texts of messages again. */
export class TextParts {
  readonly #unfinished = new Map<string, Unfinished>();
  readonly #onDropped: () => void;
  #bytes = 0;

  /** @param onDropped is called for each text that is given up. */
  constructor(onDropped: () => void) {
    this.#onDropped = onDropped;
  }

  /** Undefined until all parts of the text have arrived, and for a message that no node has made. */
  take(message: Uint8Array): string | undefined {
    const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    const [kind] = bytes.toString('latin1', 0, 1);
    if (kind === WHOLE) return bytes.toString('utf8', 1);
    const end = bytes.indexOf('\n');
    if (kind !== PART || end === -1) return undefined;
    const [id = '', index = '', count = ''] = bytes.toString('latin1', 1, end).split(' ');
    if (!isPlace(Number(index), Number(count))) return undefined;
    return this.#takePart(id, Number(index), Number(count), bytes.subarray(end + 1));
  }

  /** Gives up what will not be completed. */
  clear(): void {
    for (let left = this.#unfinished.size; left > 0; left -= 1) this.#onDropped();
    this.#unfinished.clear();
    this.#bytes = 0;
  }

  #takePart(id: string, index: number, count: number, bytes: Buffer): string | undefined {
    const text = this.#unfinished.get(id) ?? {
      parts: Array.from<undefined>({ length: count }),
      missing: count,
      bytes: 0,
    };
    if (text.parts[index] !== undefined) return undefined;
    this.#unfinished.set(id, text);
    // The message belongs to the connection, which may use its memory again.
    text.parts[index] = Buffer.from(bytes);
    text.missing -= 1;
    text.bytes += bytes.length;
    this.#bytes += bytes.length;
    if (text.missing > 0) {
      this.#makeRoom();
      return undefined;
    }
    this.#forget(id, text);
    return Buffer.concat(text.parts.filter((part) => part !== undefined)).toString('utf8');
  }

  #makeRoom(): void {
    for (const [id, text] of this.#unfinished) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#forget(id, text);
      this.#onDropped();
    }
  }

  #forget(id: string, { bytes }: Unfinished): void {
    this.#unfinished.delete(id);
    this.#bytes -= bytes;
  }
}

function isPlace(index: number, count: number): boolean {
  return (
    Number.isInteger(index) && Number.isInteger(count) && index >= 0 && index < count && count <= MAX_PARTS
  );
}
