import type { HttpResponse } from '../../ports/web-server.ts';
import type { FrameSink } from '../stream/resuming-reader.ts';

/** Where the events go. It is not to be used after its end. */
export interface EventSink extends FrameSink {
  end(): void;
  fail(error: unknown): void;
}

/** What the events come from, for as long as the client is there. */
export interface EventFeed {
  /** The client waits for more: nothing is kept for it. */
  drained(): void;
  stop(): void;
}

/** Proxies drop what is silent for longer. */
const HEARTBEAT_MS = 10_000;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** A response that goes on: `open` is given where to send events, and says what is to be stopped when it is over. */
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
