/**
 * Tells when the tools of a server may have changed while no stream for notifications was open. Over HTTP the stream
 * opens independently of the handshake, and may close and open again. Over stdio there is no such stream.
 */
export class UnheardChanges {
  readonly #tell: () => void;
  #isListed = false;
  #hadStream = false;
  #isDue = false;

  /** @param tell called when the tools should be listed again. */
  constructor(tell: () => void) {
    this.#tell = tell;
  }

  /** Call it before the tools are listed. */
  listing(): void {
    this.#isListed = true;
    this.#isDue = false;
  }

  /** Call it when a stream opens on which the server replays nothing. */
  streamOpened(): void {
    if (this.#isListed && !this.#hadStream) this.#tell();
    // Told with the next beat: some servers close each stream as soon as it is open.
    this.#isDue = this.#isListed && this.#hadStream;
    this.#hadStream = true;
  }

  /** Call it at regular intervals. */
  beat(): void {
    if (this.#isDue) this.#tell();
    this.#isDue = false;
  }
}
