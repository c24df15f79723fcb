/** In characters: about what uWebSockets.js writes at once. */
const LENGTH = 16 * 1024;

/**
 * Events that come one by one and are sent together, in parts. A text or buffer of more than 128 KB, which V8 keeps apart,
 * costs ten times as much a byte.
 */
export class EventParts {
  readonly #send: (part: string) => void;
  #part = '';

  constructor(send: (part: string) => void) {
    this.#send = send;
  }

  add(event: string): void {
    this.#part += event;
    if (this.#part.length >= LENGTH) this.#send(this.takeRest());
  }

  /** @returns what was not sent; empty if nothing. */
  takeRest(): string {
    const rest = this.#part;
    this.#part = '';
    return rest;
  }
}
