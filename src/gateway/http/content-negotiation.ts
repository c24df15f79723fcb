import type { HttpRequest } from '../../ports/web-server.ts';

/** Whether the client asks for server-sent events instead of one answer. */
export function acceptsEventStream(request: HttpRequest): Promise<boolean> {
  return acceptsByName(request, 'text/event-stream');
}

/**
 * Whether `Accept` names this media type with a quality above 0. A wildcard does not name a type.
 *
 * @param mediaType in lower case.
 */
export async function acceptsByName({ headers }: HttpRequest, mediaType: string): Promise<boolean> {
  const accept = headers.get('accept');
  // Most clients name no type, and then the package is not loaded.
  if (!accept?.toLowerCase().includes(mediaType)) return false;
  const { default: Negotiator } = await import('negotiator');
  return new Negotiator({ headers: { accept } })
    .mediaTypes()
    .some((accepted) => accepted.toLowerCase() === mediaType);
}

/** The content encodings that the client accepts, in the given order, which is the preference of the server. */
export async function acceptedEncodings<E extends string>(
  { headers }: HttpRequest,
  encodings: readonly E[],
): Promise<E[]> {
  const { default: Negotiator } = await import('negotiator');
  const accepted = new Negotiator({
    headers: { 'accept-encoding': headers.get('accept-encoding') },
  }).encodings(encodings);
  return encodings.filter((encoding) => accepted.includes(encoding));
}
