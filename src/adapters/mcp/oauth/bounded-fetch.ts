import { MEGABYTE, sizeText } from '../../../core/size-limits.ts';
import { AuthorizationError } from './authorization-error.ts';
import type { Fetch } from './server-metadata.ts';

/** Metadata, registrations and tokens have a few kilobytes. */
export const MAX_ANSWER_BYTES = MEGABYTE;

/** `fetch` whose answers cannot be read beyond the limit: an AuthorizationError says so. Whoever answers may be hostile. */
export function boundedFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body, status, statusText, headers } = response;
    if (!body) return response;
    return new Response(body.pipeThrough(limit(new URL(input))), { status, statusText, headers });
  };
}

function limit({ origin }: URL): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= MAX_ANSWER_BYTES) controller.enqueue(chunk);
      else
        controller.error(
          new AuthorizationError(`${origin} answered with more than ${sizeText(MAX_ANSWER_BYTES)}`),
        );
    },
  });
}
