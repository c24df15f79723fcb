import { ServiceError } from '../../core/errors.ts';
import { MEGABYTE } from '../../core/size-limits.ts';

const RETRY_SECONDS = 5;

/**
 * How much memory the bodies of requests take together. Bodies arrive as slowly as clients like, and are kept until the
 * answer, so that many large ones could fill the memory.
 */
export class BodyRoom {
  readonly #maxBytes: number;
  #taken = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns whether there was room. */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#maxBytes) return false;
    this.#taken += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#taken -= bytes;
  }

  /** For the client of a body that found no room. */
  get refusal(): ServiceError {
    return new ServiceError(
      'SERVICE_UNAVAILABLE',
      'The service reads too many large requests. Try again later.',
      {
        reason: `the bodies of all requests may take ${Math.floor(this.#maxBytes / MEGABYTE)} MB of memory together`,
        limit: this.#maxBytes,
        retryAfter: RETRY_SECONDS,
      },
    );
  }
}
