import Negotiator from 'negotiator';
import type { HttpRequest } from '../../ports/web-server.ts';

/** Whether the client asks for server-sent events instead of one answer. */
export function acceptsEventStream(request: HttpRequest): boolean {
  return acceptsByName(request, 'text/event-stream');
}

/**
 * Whether `Accept` names this media type with a quality above 0. A wildcard does not name a type.
 *
 * @param mediaType in lower case.
 */
export function acceptsByName({ headers }: HttpRequest, mediaType: string): boolean {
  const accept = headers.get('accept');
  if (accept === undefined) return false;
  return new Negotiator({ headers: { accept } })
    .mediaTypes()
    .some((accepted) => accepted.toLowerCase() === mediaType);
}

/** The content encodings that the client accepts, in the given order, which is the preference of the server. */
export function acceptedEncodings<E extends string>({ headers }: HttpRequest, encodings: readonly E[]): E[] {
  const accepted = new Negotiator({
    headers: { 'accept-encoding': headers.get('accept-encoding') },
  }).encodings(encodings);
  return encodings.filter((encoding) => accepted.includes(encoding));
}
