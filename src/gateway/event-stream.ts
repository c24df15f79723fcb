import type { SessionId } from '../contract/ids.ts';
import type { SessionSignal } from '../contract/service-requests.ts';
import type { StreamPosition } from '../domain/stream-cursor.ts';
import type { Bus } from '../runtime/bus.ts';
import type { HttpResponse } from './http-message.ts';
import type { Outbox } from './outbox.ts';
import { encodeResumable, encodeResumed } from './resumable-codec.ts';
import { ResumingReader } from './resuming-reader.ts';

/** Proxies drop what is silent for longer. */
export const HEARTBEAT_MS = 10_000;
export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** How long an EventSource waits before it connects again. */
const RETRY_MS = 1_000;

/**
 * A session as server-sent events: the same frames as over WebSocket. The id is the seq of the last event, with
 * `.OFFSET` where the client has some of the running text, so that `Last-Event-ID` says exactly what it has.
 */
export function eventStream(
  { bus, outbox }: { bus: Bus; outbox: Outbox },
  sessionId: SessionId,
  query: { after: number; offset: number },
  lastEventId: string | undefined,
): HttpResponse {
  const position = positionOf(lastEventId) ?? { seq: query.after, offset: query.offset };
  let stop = (): void => undefined;
  let reader: ResumingReader | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const send = (text: string): boolean => {
          controller.enqueue(Buffer.from(text));
          return (controller.desiredSize ?? 0) > 0;
        };
        const bufferedBytes = (): number => -(controller.desiredSize ?? 0);
        reader = new ResumingReader(sessionId, position, {
          bus,
          sink: { send, bufferedBytes },
          encode: encodeEvent,
          encodeResumed: (after, head) => `retry: ${RETRY_MS}\ndata: ${encodeResumed(after, head)}\n\n`,
          onEnd: () => {
            stop();
            controller.close();
          },
          onError: (error) => {
            stop();
            controller.error(error);
          },
        });
        const leave = outbox.join(sessionId, reader);
        const heartbeat = setInterval(() => send(':\n\n'), HEARTBEAT_MS);
        stop = () => {
          clearInterval(heartbeat);
          leave();
          reader?.close();
        };
        reader.start();
      },
      pull: () => reader?.drained(),
      cancel: () => stop(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  );
  return { status: 200, headers: EVENT_STREAM_HEADERS, body };
}

function encodeEvent(signal: SessionSignal, seq: number, offset: number): string {
  const hasPlace = 'event' in signal || signal.type === 'reply.chunk';
  const id = offset === 0 ? seq : `${seq}.${offset}`;
  return `${hasPlace ? `id: ${id}\n` : ''}data: ${encodeResumable(signal)}\n\n`;
}

function positionOf(lastEventId: string | undefined): StreamPosition | undefined {
  const match = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(lastEventId ?? '');
  return match ? { seq: Number(match[1]), offset: Number(match[2] ?? 0) } : undefined;
}
