import type { SessionId } from '../../../core/ids.ts';
import type { TurnOutcome } from '../../../core/turn/turn-outcome.ts';
import { errorText } from '../../requests/error-text.ts';
import { endOf } from '../../turns/turn-end.ts';
import type { McpObject } from '../mcp-object.ts';
import { textResult, toolError } from './tool-result.ts';

/** What `chat_with_agent` answers when its turn is over. */
export function chatResult(outcome: TurnOutcome, sessionId: SessionId): McpObject {
  const end = endOf(outcome);
  if ('error' in end) return toolError(errorText(end.error));
  const { content: reply } = end;
  return textResult(reply, { structuredContent: { reply, sessionId } });
}
