import type { GivenMessage } from '../../core/conversation/given-message.ts';
import { ServiceError } from '../../core/errors.ts';

/* The tool calls in a conversation that a client brings. */

/** @param field names the text in errors. */
export function argumentsOf(text: string, field: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ServiceError('INVALID_REQUEST', 'The arguments of a tool call must be a JSON object.', {
    field,
    issue: 'it is not a JSON object',
  });
}

/** The name of the tool that was called. @param field names the id in errors. */
export function callNameIn(before: readonly GivenMessage[], callId: string, field: string): string {
  const calls = before.flatMap((message) => (message.role === 'assistant' ? (message.calls ?? []) : []));
  const call = calls.findLast((candidate) => candidate.callId === callId);
  if (call) return call.name;
  throw new ServiceError('INVALID_REQUEST', 'A tool message must follow the message with its call.', {
    field,
    issue: `no message before it has a tool call with the id ${callId}`,
  });
}

/** What a session that knows the conversation does not know yet: what users said after the last reply. */
export function sinceLastReply(history: readonly GivenMessage[]): readonly GivenMessage[] {
  return history.slice(history.findLastIndex(({ role }) => role !== 'user') + 1);
}
