import { ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import type { StreamPosition } from '../../core/session/stream-cursor.ts';
import type { Bus } from '../../ports/bus.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import type { EventsQuery } from '../../wire/requests.ts';
import type { ServedRequest } from '../http/http-message.ts';
import { holdSession } from '../security/held-session.ts';
import { encodeResumable, encodeResumed, encodeTimed } from '../stream/resumable-frames.ts';
import { ResumingReader } from '../stream/resuming-reader.ts';
import type { SignalFanOut } from '../stream/signal-fan-out.ts';
import { serverSentEvents } from './server-sent-events.ts';

/** How long an EventSource waits before it reconnects. */
const RETRY_MS = 1_000;

/**
 * A session as server-sent events, with the frames of a resumable WebSocket. The id of an event is the
 * position of the client after it, `SEQ` or `SEQ.OFFSET` within running text, so that `Last-Event-ID` resumes
 * exactly there.
 */
export function sessionEventStream(
  { bus, fanOut, request }: { bus: Bus; fanOut: SignalFanOut; request: ServedRequest },
  sessionId: SessionId,
  query: EventsQuery,
): HttpResponse {
  if (query.limit !== undefined) throw limitOfStream();
  const { context } = request;
  const lastEventId = request.headers.get('last-event-id');
  const topic = bus.topicOf(sessionId, context);
  holdSession(bus, sessionId, request);
  const position = positionOf(lastEventId) ?? { seq: query.after, offset: query.offset };
  const client = { ...request, resumes: true };
  return serverSentEvents((sink) => {
    const reader = new ResumingReader(sessionId, position, {
      bus,
      context: () => context,
      sink,
      encode: encoderOf(query.time === 1 ? encodeTimed : encodeResumable),
      wantsReasoning: query.reasoning === 1,
      encodeResumed: (after, head) => `retry: ${RETRY_MS}\ndata: ${encodeResumed(after, head)}\n\n`,
      onEnd: () => sink.end(),
      onError: (error) => sink.fail(error),
    });
    fanOut.join(topic, reader);
    reader.start();
    return {
      drained: () => reader.drained(),
      stop: () => {
        fanOut.leave(topic, reader);
        reader.close();
      },
    };
  }, client);
}

function encoderOf(encode: (signal: SessionSignal) => string) {
  return (signal: SessionSignal, seq: number, offset: number): string => {
    const hasPosition = 'event' in signal || signal.type === 'reply.chunk';
    const id = offset === 0 ? seq : `${seq}.${offset}`;
    return `${hasPosition ? `id: ${id}\n` : ''}data: ${encode(signal)}\n\n`;
  };
}

function limitOfStream(): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'An event stream takes no limit.', {
    field: 'limit',
    issue: 'an event stream has no pages',
    suggestion: 'Leave limit out, or ask for JSON to get a page.',
  });
}

function positionOf(lastEventId = ''): StreamPosition | undefined {
  if (lastEventId === '') return undefined;
  const match = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(lastEventId);
  if (match) return { seq: Number(match[1]), offset: Number(match[2] ?? 0) };
  throw new ServiceError('INVALID_REQUEST', 'The header Last-Event-ID is no id of an event.', {
    field: 'Last-Event-ID',
    issue: 'must be SEQ, or SEQ.OFFSET within a reply',
    suggestion: 'Send the last id that the stream sent, or leave the header out to begin anew.',
  });
}
