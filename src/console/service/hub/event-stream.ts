import type { EventSourceMessage } from 'eventsource-parser/stream';
import { agentBase } from '../agent-base.ts';
import { refused, unreachable } from '../api-error.ts';
import { headersOf } from '../kept-key.ts';
import { eventsOf } from '../server-sent-events.ts';

export type StreamItem = { readonly kind: 'open' } | ({ readonly kind: 'event' } & EventSourceMessage);

/**
 * Server-sent events, once. An `EventSource` would not say why the service refuses it, and would not try again after a
 * refusal. Rejects with an `ApiError`, or with the reason of the signal.
 */
export async function* eventStream(
  path: string,
  key: string | null,
  signal: AbortSignal,
): AsyncGenerator<StreamItem> {
  const headers = { Accept: 'text/event-stream', ...headersOf(key) };
  const response = await fetch(agentBase + path, { headers, signal }).catch((cause: unknown) => {
    throw unreachable(cause);
  });
  if (!response.ok) throw await refused(response);
  if (!response.body) return;
  yield { kind: 'open' };
  for await (const event of eventsOf(response, signal)) yield { kind: 'event', ...event };
}
