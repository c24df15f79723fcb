import { answerCutOff, asServiceError, type ServiceError } from '../../core/errors.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { errorEnvelope } from '../http/error-response.ts';
import type { StreamCredential } from '../security/held-credentials.ts';
import type { FrameSink } from '../stream/resuming-reader.ts';
import { EVENT_STREAM_HEADERS, HEARTBEAT, HEARTBEAT_MS } from './event-stream.ts';

/** Receives the events. Once the response is over, or its client has gone, it takes them and does nothing. */
export interface EventSink extends FrameSink {
  end(): void;
  /** Ends the response with the event of this error. */
  refuse(error: ServiceError): void;
  /** Cuts the response off. */
  fail(error: unknown): void;
}

/** `left`: nobody is there any more, or may be. `stopping`: the service stops, and what runs goes on at its next start. */
export type StreamEnd = 'left' | 'stopping';

/** The source of the events while the client is connected. */
export interface EventFeed {
  /** The client has read everything that was sent. */
  drained(): void;
  /** Also called when the source has ended the stream itself. */
  stop(why: StreamEnd): void;
}

/** Who asks for the events. */
export interface EventClient {
  readonly method: string;
  /** Whether the client comes back for what it has not heard. Only then may a stop of the service look like the end. */
  readonly resumes?: boolean;
  /** When it has ended, the response ends with an event `error`: the client may read no more. */
  readonly credential?: Pick<StreamCredential, 'lost'> | undefined;
  /**
   * The event that ends the response then, when the service stops, and with `EventSink.refuse`. If absent, it has the error
   * envelope of the service.
   */
  readonly encodeError?: (error: ServiceError) => string;
}

/**
 * An open-ended response. `open` gets the sink for the events and returns their source, which is stopped at
 * the end. A `HEAD` request opens nothing.
 */
export function serverSentEvents(
  open: (sink: EventSink) => EventFeed,
  { method, credential, resumes = false, encodeError = errorEvent }: EventClient,
): HttpResponse {
  const lost = credential?.lost;
  if (method === 'HEAD') return { status: 200, headers: EVENT_STREAM_HEADERS, body: null };
  let feed: EventFeed | undefined;
  let heartbeat: NodeJS.Timeout | undefined;
  let isOver = false;
  const stop = (why: StreamEnd): void => {
    // The client of a stream that has ended may still go before it has read everything.
    if (isOver) return;
    isOver = true;
    clearInterval(heartbeat);
    lost?.removeEventListener('abort', lose);
    feed?.stop(why);
  };
  let lose = (): void => undefined;
  let cutOff = (): void => undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const bufferedBytes = (): number => -(controller.desiredSize ?? 0);
        const send = (text: string): boolean => {
          if (isOver) return true;
          controller.enqueue(Buffer.from(text));
          return bufferedBytes() <= 0;
        };
        const end = (why: StreamEnd): void => {
          if (isOver) return;
          stop(why);
          controller.close();
        };
        const fail = (error: unknown): void => {
          if (isOver) return;
          stop('left');
          controller.error(error);
        };
        const endWith = (error: ServiceError, why: StreamEnd): void => {
          send(encodeError(error));
          end(why);
        };
        const refuse = (error: ServiceError): void => endWith(error, 'left');
        feed = open({ send, bufferedBytes, end: () => end('left'), refuse, fail });
        // A source may have everything already.
        if (isOver) return;
        heartbeat = setInterval(() => send(HEARTBEAT), HEARTBEAT_MS);
        lose = () => refuse(asServiceError(lost?.reason));
        cutOff = () => endWith(answerCutOff(), 'stopping');
        if (lost?.aborted) lose();
        else lost?.addEventListener('abort', lose);
      },
      pull: () => feed?.drained(),
      cancel: () => stop('left'),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  );
  return { status: 200, headers: EVENT_STREAM_HEADERS, body, ...(!resumes && { onStop: () => cutOff() }) };
}

function errorEvent(error: ServiceError): string {
  return `event: error\ndata: ${JSON.stringify(errorEnvelope(error))}\n\n`;
}
