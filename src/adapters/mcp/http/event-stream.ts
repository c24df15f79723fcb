import { createParser, type EventSourceMessage } from 'eventsource-parser';

export interface StreamListener {
  readonly onEvent: (event: EventSourceMessage) => void;
  /** The server says how long to wait before the stream is opened again. */
  readonly onRetry?: (delayMs: number) => void;
}

/** Reads Server-Sent Events. Resolves when the stream ends, and rejects when it breaks. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  { onEvent, onRetry }: StreamListener,
): Promise<void> {
  const parser = createParser({ onEvent, ...(onRetry && { onRetry }) });
  const decoder = new TextDecoder();
  for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }));
}
