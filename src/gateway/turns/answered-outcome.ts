import type { ToolOutcome, ToolResult } from '../../core/tool-call/tool.ts';
import { toolResultText } from '../../core/tool-call/tool-result-text.ts';
import type { CallAnswerRequest } from '../../wire/requests.ts';

/** What the answer of a client says of a call of its tool. */
export function answeredOutcome({ content, structuredContent, isError }: CallAnswerRequest): ToolOutcome {
  const result: ToolResult = {
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
    ...(structuredContent && { structuredContent }),
  };
  if (!isError) return { status: 'succeeded', result };
  return { status: 'failed', reason: toolResultText(result), result };
}
