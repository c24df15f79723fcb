import type { ToolResult } from '../../core/tool-call/tool.ts';
import type { CallAnswer } from '../turns/given-answers.ts';
import type { AskedRun } from './asked-run.ts';
import type { Content, InputMessage } from './run-input.ts';
import { runKey } from './run-key.ts';
import type { AgUiTurnState } from './turn-state.ts';

type ToolMessage = Extract<InputMessage, { role: 'tool' }>;

/** What the client says of the calls that a turn waits for. */
export function clientAnswers(messages: readonly InputMessage[], turn: AgUiTurnState): CallAnswer[] {
  return turn.clientCalls.flatMap((callId) => {
    const message = messages.findLast(
      (one): one is ToolMessage => one.role === 'tool' && one.toolCallId === callId,
    );
    return message ? [{ callId, outcome: outcomeOf(message) }] : [];
  });
}

/** Answers the calls. A run that is asked for twice at once answers each of them once. */
export async function answerForRun(
  { bus, context, sessionId, input }: AskedRun,
  answers: readonly CallAnswer[],
): Promise<void> {
  for (const answer of answers) {
    const key = await runKey(input, answer);
    await bus.send('tool-call.answer', { sessionId, ...answer, key }, context);
  }
}

function outcomeOf({ content, error }: ToolMessage): CallAnswer['outcome'] {
  const result: ToolResult = { content: blocksOf(content) };
  return error === undefined
    ? { status: 'succeeded', result }
    : { status: 'failed', reason: error, ...(result.content.length > 0 && { result }) };
}

/** Parts that the agent cannot read are left out, and the call is answered all the same, as the protocol asks. */
function blocksOf(content: Content): ToolResult['content'] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content.flatMap((part): ToolResult['content'] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type !== 'image' || part.source.type !== 'data') return [];
    return [{ type: 'image', data: part.source.value, mimeType: part.source.mimeType ?? '' }];
  });
}
