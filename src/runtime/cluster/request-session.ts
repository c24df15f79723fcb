import type { SessionId } from '../../core/ids.ts';
import type { RequestOf, RequestType } from '../../ports/service-requests.ts';

/** The session that a request is about. */
export function sessionOf(request: RequestOf<RequestType>): SessionId | null {
  if ('sessionId' in request) return request.sessionId;
  return 'from' in request ? request.from : null;
}
