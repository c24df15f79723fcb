import type { GivenMessage } from '../../core/conversation/given-message.ts';
import { ServiceError } from '../../core/errors.ts';
import type { CallId, SessionId } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json-object.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';
import { parseJson } from '../requests/json-text.ts';
import { newestEvents } from './read-events.ts';

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
  readonly #names: Map<CallId, string>;

  /** @param before the names of the tools that were called before the messages. */
  constructor(before: ReadonlyMap<CallId, string> = new Map()) {
    this.#names = new Map(before);
  }

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

/** The names of the tools of these calls, as far as clients have brought them since the session was last cleared. */
export async function broughtCalls(
  bus: Bus,
  { sessionId, callIds }: { readonly sessionId: SessionId; readonly callIds: ReadonlySet<CallId> },
  context: RequestContext,
): Promise<ReadonlyMap<CallId, string>> {
  const names = new Map<CallId, string>();
  if (callIds.size === 0) return names;
  const { head } = await bus.send('session.position', { sessionId }, context);
  for await (const { event } of newestEvents(bus, { sessionId, head }, context)) {
    if (event.type === 'session.reset' || names.size === callIds.size) break;
    const given = event.type === 'session.extended' || event.type === 'turn.requested' ? event.given : [];
    for (const message of given ?? [])
      for (const { callId, name } of (message.role === 'assistant' && message.calls) || [])
        if (callIds.has(callId)) names.set(callId, name);
  }
  return names;
}

/** What a session that knows the conversation does not know yet: what users said after the last reply. */
export function sinceLastReply(history: readonly GivenMessage[]): readonly GivenMessage[] {
  return history.slice(history.findLastIndex(({ role }) => role !== 'user') + 1);
}
