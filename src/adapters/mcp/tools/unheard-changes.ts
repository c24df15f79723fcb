/**
 * Knows when the tools of a server may have changed while it had no stream to say so. Behind HTTP that stream is opened
 * beside the handshake, and may end and be opened again; over stdio there is nothing to open.
 */
export class UnheardChanges {
  readonly #tell: () => void;
  #isListed = false;
  #hadStream = false;
  #isDue = false;

  /** @param tell that the tools are to be listed again. */
  constructor(tell: () => void) {
    this.#tell = tell;
  }

  /** The tools are about to be listed. */
  listing(): void {
    this.#isListed = true;
    this.#isDue = false;
  }

  /** A stream is open on which nothing is repeated that was said before. */
  streamOpened(): void {
    if (this.#isListed && !this.#hadStream) this.#tell();
    // Not at once: some servers end each stream as soon as it is open.
    this.#isDue = this.#isListed && this.#hadStream;
    this.#hadStream = true;
  }

  /** To be called now and then. */
  beat(): void {
    if (this.#isDue) this.#tell();
    this.#isDue = false;
  }
}
