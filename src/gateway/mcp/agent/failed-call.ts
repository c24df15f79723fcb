import type { ErrorBody } from '../../../core/errors.ts';
import type { SessionId } from '../../../core/ids.ts';
import type { Logger } from '../../../ports/logger.ts';
import { clientError } from '../../requests/client-error.ts';
import type { McpObject } from '../mcp-object.ts';
import { toolError } from './tool-result.ts';

/** What the client gets of a call that failed. */
export function failedCall(thrown: unknown, sessionId: SessionId, log: Logger): McpObject {
  return toolError(textOfError(clientError(thrown, log, { sessionId }, 'an MCP call failed unexpectedly')));
}

export function textOfError({ message, details }: Pick<ErrorBody, 'message' | 'details'>): string {
  return [message, details.reason, details.suggestion].filter((text) => typeof text === 'string').join(' ');
}
