import type { ServiceError } from '../../core/errors.ts';
import { type ClientSocket, CREDENTIAL_OVER_CODE } from '../../ports/client-socket.ts';

/** WebSocket close code: the client may not read the session any more. */
const NOT_SHARED_CODE = 4404;

/** Closes a socket of a session. @param error why its client may hear no more. */
export function endLost(socket: ClientSocket, { code, details }: ServiceError): void {
  if (code === 'UNAUTHORIZED') socket.end(CREDENTIAL_OVER_CODE, String(details.reason));
  else socket.end(NOT_SHARED_CODE, 'the session is not shared any more');
}
