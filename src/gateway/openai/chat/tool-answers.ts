import { ServiceError } from '../../../core/errors.ts';
import { type CallId, SessionId } from '../../../core/ids.ts';
import type { CallAnswer, ToolAnswers } from '../../turns/given-answers.ts';
import { calledIn } from '../client-tools.ts';
import { isInstruction } from './chat-request.ts';
import { textOf } from './given-conversation.ts';
import type { PlacedMessage } from './placed-message.ts';

type Messages = readonly PlacedMessage[];

/**
 * Null if the conversation does not end with results of calls that one session has asked for. Throws if a call has two
 * results.
 */
export function toolAnswers(messages: Messages): ToolAnswers | null {
  return resultsAtEnd(conversationIn(messages));
}

/** The same for a conversation that ends with messages of the user: the results are right before them. */
export function answersBeforeMessage(messages: Messages): ToolAnswers | null {
  const conversation = conversationIn(messages);
  const end = conversation.findLastIndex(({ message }) => message.role !== 'user') + 1;
  return end === conversation.length ? null : resultsAtEnd(conversation.slice(0, end));
}

/** Whether nothing is said behind the result of a tool. */
export function endsWithResult(messages: Messages): boolean {
  return conversationIn(messages).at(-1)?.message.role === 'tool';
}

/** The messages without what the session has: all up to the results that they bring before the last message. */
export function behindResults(messages: Messages): Messages {
  const results = messages.findLastIndex(({ message }) => message.role === 'tool');
  return messages.filter(({ message }, index) => index > results || isInstruction(message));
}

function conversationIn(messages: Messages): Messages {
  return messages.filter(({ message }) => !isInstruction(message));
}

function resultsAtEnd(messages: Messages): ToolAnswers | null {
  const begin = messages.findLastIndex(({ message }) => message.role !== 'tool') + 1;
  const answers = new Map<CallId, CallAnswer>();
  let second: string | undefined;
  let sessionId: SessionId | undefined;
  for (const { message, fields } of messages.slice(begin)) {
    const called = message.role === 'tool' ? calledIn(message.tool_call_id) : null;
    if (message.role !== 'tool' || !called) return null;
    if (sessionId !== undefined && sessionId !== called.sessionId) return null;
    const { callId } = called;
    ({ sessionId } = called);
    if (answers.has(callId)) second ??= fields.callId;
    const result = { content: [{ type: 'text', text: textOf(message.content) }] };
    answers.set(callId, { callId, outcome: { status: 'succeeded', result } });
  }
  if (sessionId === undefined || !SessionId.safeParse(sessionId).success) return null;
  if (second !== undefined) throw twoResults(second);
  return { sessionId, answers: [...answers.values()] };
}

function twoResults(field: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'A tool call has one result.', {
    field,
    issue: 'a result before it has the same id',
  });
}
