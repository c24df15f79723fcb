import type { TokenVerifier } from '../../ports/token-verifier.ts';

/** An `Authorization` header whose token was accepted, and what was found in it. */
export interface BearerHeader {
  readonly header: string;
  readonly token: string;
  /** The verifier of tokens of this kind. */
  readonly verifier: TokenVerifier;
}

/** By which a header is found. Whoever does not know a key or a signed token does not know its end either. */
const END = 24;
const MOST = 1_000;
/** A longer header is not kept. */
const MAX_CHARACTERS = 4_096;

/**
 * The headers that were accepted last, by their ends: each client sends the same one with every request, and reading it
 * costs more than finding it. Whether the token is still good is asked each time.
 */
export class BearerHeaders {
  readonly #byEnd = new Map<string, BearerHeader>();

  find(header: string): BearerHeader | undefined {
    const known = this.#byEnd.get(header.slice(-END));
    return known?.header === header ? known : undefined;
  }

  keep(accepted: BearerHeader): void {
    const { header } = accepted;
    if (header.length > MAX_CHARACTERS) return;
    if (this.#byEnd.size >= MOST) this.#byEnd.clear();
    this.#byEnd.set(header.slice(-END), accepted);
  }
}
