import type { CallId, SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';
import { broughtCalls } from '../turns/given-calls.ts';
import type { PlacedMessage } from './chat/placed-message.ts';

interface Continued {
  /** The session that the messages continue. */
  readonly sessionId: SessionId;
  readonly messages: readonly PlacedMessage[];
}

/** The names of the tools whose results are among the messages, and whose calls a client brought into the session before. */
export function callsBefore(
  bus: Bus,
  { sessionId, messages }: Continued,
  context: RequestContext,
): Promise<ReadonlyMap<CallId, string>> {
  return broughtCalls(bus, { sessionId, callIds: resultsAlone(messages) }, context);
}

/** The calls of which only the results are among the messages. */
function resultsAlone(messages: readonly PlacedMessage[]): ReadonlySet<CallId> {
  const callIds = new Set<CallId>();
  for (const { message } of messages) if (message.role === 'tool') callIds.add(message.tool_call_id);
  for (const { message } of messages)
    if (message.role === 'assistant') for (const { id } of message.tool_calls ?? []) callIds.delete(id);
  return callIds;
}
