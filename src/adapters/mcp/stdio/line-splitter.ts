const NEWLINE = 0x0a;

/**
 * Splits a byte stream into lines. Of a line longer than the bound only the beginning is handed over, so no sender can
 * fill the memory.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  readonly #onLine: (line: string, cut: boolean) => void;
  // Joined at the end of the line: joining at each chunk takes quadratic time for a long line.
  #pieces: Buffer[] = [];
  #bytes = 0;
  #dropping = false;

  constructor(maxBytes: number, onLine: (line: string, cut: boolean) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end));
      this.#endLine();
      start = end + 1;
    }
    this.#add(chunk.subarray(start));
  }

  /** Call it at the end of the stream: the last line may have no newline. */
  end(): void {
    if (this.#bytes > 0) this.#endLine();
  }

  #add(piece: Buffer): void {
    if (this.#dropping || piece.length === 0) return;
    const room = this.#maxBytes - this.#bytes;
    this.#pieces.push(piece.subarray(0, room));
    this.#bytes += Math.min(piece.length, room);
    if (piece.length <= room) return;
    this.#dropping = true;
    this.#emit(true);
  }

  #endLine(): void {
    if (!this.#dropping) this.#emit(false);
    this.#dropping = false;
  }

  #emit(cut: boolean): void {
    const line = Buffer.concat(this.#pieces, this.#bytes).toString('utf8');
    this.#pieces = [];
    this.#bytes = 0;
    this.#onLine(line.endsWith('\r') ? line.slice(0, -1) : line, cut);
  }
}
