import { type Image, imageBytes } from '../../core/conversation/image.ts';
import { tooLarge } from '../../core/limit-errors.ts';

/** Throws `RATE_LIMIT_EXCEEDED` for an image beyond the limit on size, which counts the image and not its base64. */
export function checkImageSize(image: Image | undefined, maxBytes: number | false): void {
  if (image && maxBytes !== false && imageBytes(image) > maxBytes) throw tooLarge('an image', maxBytes);
}
