import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream';
import { agentBase } from '../agent-base.ts';
import { refused, unreachable } from '../api-error.ts';
import { headersOf } from '../kept-key.ts';

export type StreamItem = { readonly kind: 'open' } | ({ readonly kind: 'event' } & EventSourceMessage);

/**
 * Server-sent events, once. An `EventSource` would not say why the service refuses it, and would not try again after a
 * refusal. Rejects with an `ApiError`.
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
  const reader = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  // Safari cannot iterate over a stream.
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw unreachable(cause);
    });
    if (done) return;
    yield { kind: 'event', ...value };
  }
}
