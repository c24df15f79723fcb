import type { HttpResponse } from '../../ports/web-server.ts';
import type { FrameSink } from '../stream/resuming-reader.ts';

/** Receives the events. Do not use it after `end` or `fail`. */
export interface EventSink extends FrameSink {
  end(): void;
  fail(error: unknown): void;
}

/** The source of the events while the client is connected. */
export interface EventFeed {
  /** The client has read everything that was sent. */
  drained(): void;
  stop(): void;
}

/** Proxies close connections that are silent for longer. */
const HEARTBEAT_MS = 10_000;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/**
 * An open-ended response. `open` gets the sink for the events and returns their source, which is stopped at
 * the end.
 */
export function serverSentEvents(open: (sink: EventSink) => EventFeed): HttpResponse {
  let feed: EventFeed | undefined;
  let heartbeat: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearInterval(heartbeat);
    feed?.stop();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const bufferedBytes = (): number => -(controller.desiredSize ?? 0);
        const send = (text: string): boolean => {
          controller.enqueue(Buffer.from(text));
          return bufferedBytes() <= 0;
        };
        const end = (): void => {
          stop();
          controller.close();
        };
        const fail = (error: unknown): void => {
          stop();
          controller.error(error);
        };
        feed = open({ send, bufferedBytes, end, fail });
        heartbeat = setInterval(() => send(':\n\n'), HEARTBEAT_MS);
      },
      pull: () => feed?.drained(),
      cancel: stop,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  );
  return { status: 200, headers: HEADERS, body };
}
