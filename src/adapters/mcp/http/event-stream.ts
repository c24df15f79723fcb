import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { MAX_MESSAGE_BYTES, MessageTooLargeError } from '../message-limit.ts';

export interface StreamListener {
  readonly onEvent: (event: EventSourceMessage) => void;
  /** The server says how long to wait before the stream is opened again. */
  readonly onRetry?: (delayMs: number) => void;
}

/**
 * Reads Server-Sent Events. Resolves when the stream ends. Rejects when it breaks, and with a `MessageTooLargeError` when an
 * event is too long; then the rest of the stream is cancelled.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  { onEvent, onRetry }: StreamListener,
): Promise<void> {
  const parser = createParser({
    onEvent,
    ...(onRetry && { onRetry }),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw new MessageTooLargeError();
    },
    // It counts characters, of which a text never has more than bytes.
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
  const decoder = new TextDecoder();
  for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }));
}
