import { z } from 'zod';
import { encodedBytes, type MaxBytes, tooLarge } from '../../core/size-limits.ts';
import type { HttpRequest } from '../../ports/web-server.ts';
import { parseJson } from './json-text.ts';

/** Where a message holds its image. */
const Holder = z.union([
  z.object({ imageData: z.object({ base64: z.string() }) }),
  z
    .object({ params: z.object({ arguments: z.object({ imageData: z.object({ base64: z.string() }) }) }) })
    .transform(({ params }) => params.arguments),
]);

/**
 * Throws for a message beyond the limit. The base64 of its image does not count, because the image has a limit of its
 * own. Only a message beyond the limit is parsed for that.
 *
 * @param text the message as JSON.
 * @param imagesLength length of the base64 of all images of a message.
 */
export function checkMessageSize(
  text: string | Uint8Array,
  bytes: number,
  maxBytes: MaxBytes,
  imagesLength: (message: unknown) => number = imageLength,
): void {
  checkBytes(bytes, maxBytes, () => {
    try {
      return imagesLength(parseJson(typeof text === 'string' ? text : Buffer.from(text).toString()));
    } catch {
      return 0; // Text that is not JSON has no image.
    }
  });
}

/**
 * The same for the body of a request whose protocol holds images elsewhere.
 *
 * @param imagesLength length of the base64 of all its images. Called only for a body beyond the limit.
 */
export async function checkBodySize(
  request: Pick<HttpRequest, 'body'>,
  maxBytes: MaxBytes,
  imagesLength: () => number,
): Promise<void> {
  const { length } = await request.body();
  checkBytes(length, maxBytes, imagesLength);
}

function checkBytes(bytes: number, maxBytes: MaxBytes, imagesLength: () => number): void {
  if (maxBytes === false || bytes <= maxBytes) return;
  const isReadable = bytes <= encodedBytes(maxBytes);
  if (!isReadable || bytes - imagesLength() > maxBytes) throw tooLarge('a message', maxBytes);
}

function imageLength(message: unknown): number {
  return Holder.safeParse(message).data?.imageData.base64.length ?? 0;
}
