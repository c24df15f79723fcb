import { SessionId } from '../../../core/ids.ts';
import type { CallAnswer, ToolAnswers } from '../../turns/given-answers.ts';
import { calledIn } from '../client-tools.ts';
import { type ChatMessage, isInstruction } from './chat-request.ts';
import { textOf } from './given-conversation.ts';

/** Null if the conversation does not end with results of calls that one session has asked for. */
export function toolAnswers(messages: readonly ChatMessage[]): ToolAnswers | null {
  return resultsAtEnd(conversationIn(messages));
}

/** The same for a conversation that ends with messages of the user: the results are right before them. */
export function answersBeforeMessage(messages: readonly ChatMessage[]): ToolAnswers | null {
  const conversation = conversationIn(messages);
  const end = conversation.findLastIndex(({ role }) => role !== 'user') + 1;
  return end === conversation.length ? null : resultsAtEnd(conversation.slice(0, end));
}

/** Whether nothing is said behind the result of a tool. */
export function endsWithResult(messages: readonly ChatMessage[]): boolean {
  return conversationIn(messages).at(-1)?.role === 'tool';
}

/** Messages of a request, which names each in its own way. */
export interface PlacedMessages {
  readonly messages: readonly ChatMessage[];
  /** The field of the request that has the message with that index. */
  readonly fieldOf: (index: number) => string;
}

/** The messages without what the session has: all up to the results that they bring before the last message. */
export function behindResults({ messages, fieldOf }: PlacedMessages): PlacedMessages {
  const results = messages.findLastIndex(({ role }) => role === 'tool');
  const kept = [...messages.entries()].flatMap(([index, message]) =>
    index > results || isInstruction(message) ? [index] : [],
  );
  return {
    messages: kept.flatMap((index) => messages[index] ?? []),
    fieldOf: (index) => fieldOf(kept[index] ?? index),
  };
}

function conversationIn(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.filter((message) => !isInstruction(message));
}

function resultsAtEnd(messages: readonly ChatMessage[]): ToolAnswers | null {
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
