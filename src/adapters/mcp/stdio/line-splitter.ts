const NEWLINE = 0x0a;

/**
 * Cuts a byte stream into lines. A line longer than the bound is handed over cut, once, and the rest of
 * it is dropped, so no sender can make this grow.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  readonly #onLine: (line: string, cut: boolean) => void;
  // Pieces are joined once a line: joining at each chunk costs quadratic time for a long line.
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

  /** The stream is over: what is left is a line too. */
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
