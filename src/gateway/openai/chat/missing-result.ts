import { ServiceError } from '../../../core/errors.ts';
import type { CallId, SessionId } from '../../../core/ids.ts';
import { callIdFor } from '../client-tools.ts';

/** @param callId of a call that the session waits for. */
export function missingResult(callId: CallId, sessionId: SessionId): ServiceError {
  const id = callIdFor(callId, sessionId);
  return new ServiceError('INVALID_REQUEST', `The result of the tool call ${id} is missing.`, {
    field: 'messages',
    callId: id,
    issue: 'the session waits for the results of its tool calls',
    suggestion: 'Send a tool message for each of these calls.',
  });
}
