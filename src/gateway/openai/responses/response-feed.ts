import type { RequestContext } from '../../../core/request/request-context.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { EventFeed } from '../../sse/server-sent-events.ts';
import { type FrameSink, ResumingReader } from '../../stream/resuming-reader.ts';
import type { SignalFanOut } from '../../stream/signal-fan-out.ts';
import type { BegunResponse } from './response-turn.ts';
import { TurnResponses } from './turn-responses.ts';

export interface FeedDeps {
  readonly bus: Bus;
  readonly fanOut: SignalFanOut;
  readonly context: RequestContext;
}

export interface FeedListener {
  readonly sink: FrameSink;
  /** Encodes an event; empty if the client does not get it. */
  readonly encode: (type: string, json: string, number: number) => string;
  /** Nothing follows. */
  readonly onOver: (responses: TurnResponses) => void;
  /** The log could not be read, and nothing follows. */
  readonly onError: (error: unknown) => void;
}

/** Reads a response: first what the log has of it, then what happens. The listener is called later, never at once. */
export function readResponse(
  { bus, fanOut, context }: FeedDeps,
  { place, afterSeq }: BegunResponse,
  { sink, encode, onOver, onError }: FeedListener,
): EventFeed {
  const topic = bus.topicOf(place.sessionId, context);
  let events = '';
  let isOver = false;
  const responses = new TurnResponses(place, (type, json, number) => {
    events += encode(type, json, number);
  });
  const stop = (): void => {
    isOver = true;
    fanOut.leave(topic, reader);
    reader.close();
  };
  const send = (text: string): boolean => {
    if (isOver) return true;
    const isTaken = text === '' || sink.send(text);
    if (responses.isOver) {
      stop();
      onOver(responses);
    }
    return isTaken;
  };
  const reader = new ResumingReader(
    place.sessionId,
    { seq: afterSeq, offset: 0 },
    {
      bus,
      context: () => context,
      sink: { send, bufferedBytes: () => sink.bufferedBytes() },
      encode: (signal) => {
        events = '';
        responses.take(signal);
        return events;
      },
      encodeResumed: () => '',
      wantsReasoning: false,
      onEnd: () => {
        stop();
        onOver(responses);
      },
      onError: (error) => {
        stop();
        onError(error);
      },
    },
  );
  fanOut.join(topic, reader);
  reader.start();
  return { drained: () => reader.drained(), stop };
}
