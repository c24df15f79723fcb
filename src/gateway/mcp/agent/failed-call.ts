import type { SessionId } from '../../../core/ids.ts';
import type { Logger } from '../../../ports/logger.ts';
import { clientError } from '../../requests/client-error.ts';
import { errorText } from '../../requests/error-text.ts';
import type { McpObject } from '../mcp-object.ts';
import { toolError } from './tool-result.ts';

/** What the client gets of a call that failed. */
export function failedCall(thrown: unknown, sessionId: SessionId, log: Logger): McpObject {
  return toolError(errorText(clientError(thrown, log, { sessionId }, 'an MCP call failed unexpectedly')));
}
