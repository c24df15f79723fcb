import { createParser } from 'eventsource-parser';

export interface ReceivedEvent {
  readonly id: string | undefined;
  readonly frame: unknown;
}

/** One response of server-sent events, read event by event; leaving the loop drops the connection. */
export class EventSourceStream implements AsyncIterable<ReceivedEvent> {
  readonly response: Response;
  readonly #abort: AbortController;
  retryMs: number | undefined;

  private constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#abort = abort;
  }

  static async open(url: string, lastEventId?: string): Promise<EventSourceStream> {
    const abort = new AbortController();
    const headers = {
      accept: 'text/event-stream',
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    };
    const response = await fetch(url, { headers, signal: abort.signal });
    if (response.status !== 200) throw new Error(`refused: ${response.status}`);
    return new EventSourceStream(response, abort);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ReceivedEvent> {
    const received: ReceivedEvent[] = [];
    const parser = createParser({
      onEvent: ({ id, data }) => received.push({ id, frame: JSON.parse(data) }),
      onRetry: (retryMs) => {
        this.retryMs = retryMs;
      },
    });
    const decoder = new TextDecoder();
    try {
      for await (const bytes of this.response.body ?? []) {
        parser.feed(decoder.decode(bytes, { stream: true }));
        yield* received.splice(0);
      }
    } finally {
      this.#abort.abort();
    }
  }
}
