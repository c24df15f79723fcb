import { MEGABYTE, sizeText } from '../../core/size-limits.ts';

/** Enough for an image of 10 MB, in base64. */
export const MAX_MESSAGE_BYTES = 14 * MEGABYTE;

/** A message of the server is longer than the limit. It was not read to its end. */
export class MessageTooLargeError extends Error {
  override readonly name = 'MessageTooLargeError';

  constructor() {
    super(`the server sent a message of more than ${sizeText(MAX_MESSAGE_BYTES)}`);
  }
}
