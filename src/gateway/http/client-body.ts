import { ServiceError } from '../../core/errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { HttpRequest } from '../../ports/web-server.ts';
import { credentialExpired, type HeldCredentials } from '../security/held-credentials.ts';

interface ClientBodyDeps {
  readonly credentials: Pick<HeldCredentials, 'refuseRevoked'> | undefined;
  /** Called when the body is refused. */
  readonly onRefused: (error: ServiceError) => void;
}

/** The body of a request of an authenticated client. It counts for the client, and must end before the credential does. */
export function clientBody(
  request: HttpRequest,
  client: RequestContext,
  { credentials, onRefused }: ClientBodyDeps,
): HttpRequest['body'] {
  const whole = request.body(client);
  return async () => {
    const body = await whole;
    try {
      credentials?.refuseRevoked(client);
      refuseExpired(client);
    } catch (error) {
      if (error instanceof ServiceError) onRefused(error);
      throw error;
    }
    return body;
  };
}

function refuseExpired({ rights }: RequestContext): void {
  if (rights?.expiresAt !== undefined && Date.now() >= rights.expiresAt) throw credentialExpired();
}
