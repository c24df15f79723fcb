import type { RequestContext } from '../../core/request/request-context.ts';
import type { HttpRequest } from '../../ports/web-server.ts';
import { credentialExpired, type HeldCredentials } from '../security/held-credentials.ts';

/** The body of a request of an authenticated client. It counts for the client, and must end before the credential does. */
export function clientBody(
  request: HttpRequest,
  client: RequestContext,
  credentials: Pick<HeldCredentials, 'refuseRevoked'> | undefined,
): HttpRequest['body'] {
  const whole = request.body(client);
  const expiresAt = client.rights?.expiresAt;
  return async () => {
    const body = await whole;
    credentials?.refuseRevoked(client);
    if (expiresAt !== undefined && Date.now() >= expiresAt) throw credentialExpired();
    return body;
  };
}
