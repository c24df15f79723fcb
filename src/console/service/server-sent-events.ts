import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream';
import { unreachable } from './api-error.ts';

/** The events of an answer. Rejects with an `ApiError`, or with the reason of the signal of its request. */
export async function* eventsOf(
  { body }: Response,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage, void> {
  const reader = body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  // Safari cannot iterate over a stream.
  for (;;) {
    const next = await reader?.read().catch((cause: unknown) => {
      throw signal.aborted ? cause : unreachable(cause);
    });
    if (!next || next.done) return;
    yield next.value;
  }
}
