/** One message as a provider is sent it, as a view shows it, or as a model is given it. */
interface Message {
  readonly role: string;
  readonly tool_calls?: unknown;
  readonly toolCalls?: unknown;
  readonly parts?: unknown;
  readonly tool_call_id?: unknown;
  readonly callId?: unknown;
}

/**
 * What providers refuse of a history: a tool call that is not directly followed by its one result, and a
 * result of no call. None, when it is valid.
 */
export function pairingFaults(messages: readonly Message[]): string[] {
  const faults: string[] = [];
  let due = new Set<unknown>();
  for (const message of messages) {
    if (message.role === 'tool') {
      const id = message.tool_call_id ?? message.callId;
      if (!due.delete(id)) faults.push(`result ${String(id)} of no call`);
      continue;
    }
    faults.push(...[...due].map((id) => `call ${String(id)} without a result`));
    due = new Set(callIds(message));
  }
  return [...faults, ...[...due].map((id) => `call ${String(id)} without a result`)];
}

function callIds({ tool_calls, toolCalls, parts }: Message): unknown[] {
  const calls: unknown = tool_calls ?? toolCalls ?? parts ?? [];
  if (!Array.isArray(calls)) return [];
  return calls.flatMap((call: { type?: unknown; id?: unknown; callId?: unknown }) =>
    parts === undefined || call.type === 'toolCall' ? [call.id ?? call.callId] : [],
  );
}
