import type { ThreadMessage } from './ag-ui-events.ts';
import type { InputMessage } from './run-input.ts';

type Message = InputMessage | ThreadMessage;

/**
 * The messages of a snapshot, for a page that has some: each result of a call once, and with the id that the page has given
 * it, if a tool of the page was called. A page takes a result with another id for another message, and adds it at the end.
 */
export function asPageHas(snapshot: readonly Message[], messages: readonly InputMessage[]): Message[] {
  const own = new Map(withCalls(messages).map(({ message, call }) => [call, message.id]));
  const told = new Set<string>();
  return withCalls(snapshot).flatMap(({ message, call }) => {
    if (call === undefined) return message;
    if (told.has(call)) return [];
    told.add(call);
    return { ...message, id: own.get(call) ?? message.id };
  });
}

/** The messages, and which call each result is of. A later message may have a call with the same id. */
function withCalls(messages: readonly Message[]): { message: Message; call: string | undefined }[] {
  const askedIn = new Map<string, string>();
  return messages.map((message) => {
    if (message.role === 'assistant')
      for (const { id } of message.toolCalls ?? []) askedIn.set(id, message.id);
    const call =
      message.role === 'tool' ? `${askedIn.get(message.toolCallId)} ${message.toolCallId}` : undefined;
    return { message, call };
  });
}
