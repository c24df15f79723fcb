import type { ErrorCode } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RequestType, ServiceRequests } from '../../ports/service-requests.ts';

/** Requests that may be done twice. */
export const REPEATABLE: ReadonlySet<RequestType> = new Set<RequestType>([
  ...(['turn.cancel', 'session.reset', 'session.rename', 'session.describe', 'session.delete'] as const),
  ...(['session.position', 'session.rest', 'session.view', 'session.events'] as const),
]);

/** Requests that only look at a session as it is now. */
export const READINGS: ReadonlySet<RequestType> = new Set<RequestType>(['session.position', 'session.view']);

/** Requests that change a session that there is. */
export const CHANGES: ReadonlySet<RequestType> = new Set<RequestType>([
  ...(['turn.cancel', 'approval.answer', 'tool-call.answer', 'input.answer', 'session.fork'] as const),
  ...(['session.reset', 'session.rename', 'session.describe', 'session.extend', 'session.delete'] as const),
]);

/** Errors that say that something is not there: another node may have just recorded it. */
export const UNKNOWN: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'SERVER_NOT_FOUND',
  'GRANT_NOT_FOUND',
  'API_KEY_NOT_FOUND',
]);

/** The session that a request is about. */
export function sessionOf(request: ServiceRequests[RequestType]['request']): SessionId | null {
  if ('sessionId' in request) return request.sessionId;
  return 'from' in request ? request.from : null;
}
