import { type Image, imageBytes } from './conversation/image.ts';
import { ServiceError } from './errors.ts';
import { limitExceeded, secondsFromNow } from './limit-errors.ts';

/** A number of bytes; false if sizes are not limited. */
export type MaxBytes = number | false;

/** MB are 1024 × 1024 bytes, everywhere in this service. */
export const MEGABYTE = 1024 * 1024;

/** The largest image, and the largest message without its image, unless the agent file says otherwise. */
export const DEFAULT_MAX_BYTES = 10 * MEGABYTE;

/** Room for what stands around an image. */
const ENVELOPE_BYTES = 64 * 1024;

/** Bytes of a message whose image, in base64, is as large as the limit allows. */
export function encodedBytes(maxBytes: number): number {
  return Math.ceil(maxBytes / 3) * 4 + ENVELOPE_BYTES;
}

/** Throws for an image beyond the limit. Its own bytes count, not its base64. */
export function checkImageSize(image: Image | undefined, maxBytes: MaxBytes): void {
  if (image && maxBytes !== false && imageBytes(image) > maxBytes) throw tooLarge('an image', maxBytes);
}

/** A limit on size has no time window: `resetTime` is now, because something smaller may be sent at once. */
export class TooLargeError extends ServiceError {}

/** @param what such as `an image`. */
export function tooLarge(what: string, limit: number): TooLargeError {
  const { code, message, details } = limitExceeded(`${what} of at most ${sizeText(limit)}`, {
    limit,
    resetTime: secondsFromNow(0),
  });
  const suggestion = `Send less than ${amount(limit)}: trying again does not help.`;
  return new TooLargeError(code, message, { ...details, suggestion });
}

/** For people. */
export function sizeText(bytes: number): string {
  return isWholeMegabytes(bytes) ? `${amount(bytes)} (${bytes} bytes)` : amount(bytes);
}

function amount(bytes: number): string {
  return isWholeMegabytes(bytes) ? `${bytes / MEGABYTE} MB` : `${bytes} bytes`;
}

function isWholeMegabytes(bytes: number): boolean {
  return bytes >= MEGABYTE && bytes % MEGABYTE === 0;
}
