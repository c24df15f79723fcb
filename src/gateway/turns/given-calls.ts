import type { GivenMessage } from '../../core/conversation/given-message.ts';
import { ServiceError } from '../../core/errors.ts';
import type { CallId } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json-object.ts';
import { parseJson } from '../requests/json-text.ts';

/* The tool calls in a conversation that a client brings. */

/** @param field names the text in errors. */
export function argumentsOf(text: string, field: string): Record<string, unknown> {
  try {
    const value = parseJson(text === '' ? '{}' : text, field);
    if (isJsonObject(value)) return { ...value };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ServiceError('INVALID_REQUEST', 'The arguments of a tool call must be a JSON object.', {
    field,
    issue: 'it is not a JSON object',
  });
}

/** The names of the tools that were called in the messages until now. */
export class GivenCalls {
  readonly #names = new Map<CallId, string>();

  add(message: GivenMessage): void {
    if (message.role !== 'assistant') return;
    for (const { callId, name } of message.calls ?? []) this.#names.set(callId, name);
  }

  /** The name of the tool that was called. Throws if no message has the call. @param field names the id in errors. */
  nameOf(callId: string, field: string): string {
    const name = this.#names.get(callId);
    if (name !== undefined) return name;
    throw new ServiceError('INVALID_REQUEST', 'A tool message must follow the message with its call.', {
      field,
      issue: `no message before it has a tool call with the id ${callId}`,
    });
  }
}

/** What a session that knows the conversation does not know yet: what users said after the last reply. */
export function sinceLastReply(history: readonly GivenMessage[]): readonly GivenMessage[] {
  return history.slice(history.findLastIndex(({ role }) => role !== 'user') + 1);
}
