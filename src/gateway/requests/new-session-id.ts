import { contentHash } from '../../core/content-hash.ts';
import type { SessionId } from '../../core/ids.ts';
import type { HttpRequest } from '../../ports/web-server.ts';

/**
 * An id for a session that begins with a request. A request that is repeated with its idempotency key gets the same one.
 * @param origin what the session is made from; another origin is another session.
 */
export async function newSessionId(
  { headers }: Pick<HttpRequest, 'headers'>,
  prefix: string,
  ...origin: readonly (string | number)[]
): Promise<SessionId> {
  const key = headers.get('idempotency-key');
  if (key === undefined) return `${prefix}-${crypto.randomUUID()}`;
  const hash = await contentHash(origin.length === 0 ? key : [key, ...origin]);
  return `${prefix}-${hash.slice(0, 32)}`;
}
