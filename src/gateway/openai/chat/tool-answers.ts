import { SessionId } from '../../../core/ids.ts';
import type { CallAnswer, ToolAnswers } from '../../turns/given-answers.ts';
import { calledIn } from '../client-tools.ts';
import type { ChatMessage } from './chat-request.ts';
import { textOf } from './given-conversation.ts';

/** Null if the conversation does not end with results of calls that one session has asked for. */
export function toolAnswers(messages: readonly ChatMessage[]): ToolAnswers | null {
  const begin = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
  const answers: CallAnswer[] = [];
  let sessionId: SessionId | undefined;
  for (const message of messages.slice(begin)) {
    const called = message.role === 'tool' ? calledIn(message.tool_call_id) : null;
    if (message.role !== 'tool' || !called) return null;
    if (sessionId !== undefined && sessionId !== called.sessionId) return null;
    sessionId = called.sessionId;
    const result = { content: [{ type: 'text', text: textOf(message.content) }] };
    answers.push({ callId: called.callId, outcome: { status: 'succeeded', result } });
  }
  return SessionId.safeParse(sessionId).success && sessionId !== undefined ? { sessionId, answers } : null;
}
