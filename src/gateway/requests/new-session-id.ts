import { contentHash } from '../../core/content-hash.ts';
import type { SessionId } from '../../core/ids.ts';
import type { HttpRequest } from '../../ports/web-server.ts';

/** An id for a session that begins with a request. A request that is repeated with its idempotency key gets the same one. */
export async function newSessionId(
  { headers }: Pick<HttpRequest, 'headers'>,
  prefix: string,
): Promise<SessionId> {
  const key = headers.get('idempotency-key');
  const id = key === undefined ? crypto.randomUUID() : (await contentHash(key)).slice(0, 32);
  return `${prefix}-${id}`;
}
