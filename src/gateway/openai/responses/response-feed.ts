import type { RequestContext } from '../../../core/request/request-context.ts';
import type { Bus } from '../../../ports/bus.ts';
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
  readonly onOver: (responses: TurnResponses) => void;
  readonly onError: (error: unknown) => void;
}

/** Reads a response: first what the log has of it, then what happens. */
export class ResponseFeed {
  readonly #stop: () => void;
  readonly #reader: ResumingReader;

  constructor(
    { bus, fanOut, context }: FeedDeps,
    { place, afterSeq }: BegunResponse,
    listener: FeedListener,
  ) {
    const { sink, encode, onOver, onError } = listener;
    let events = '';
    let isOver = false;
    const responses = new TurnResponses(place, (type, json, number) => {
      events += encode(type, json, number);
    });
    const topic = bus.topicOf(place.sessionId, context);
    const send = (text: string): boolean => {
      if (isOver) return true;
      const isTaken = text === '' || sink.send(text);
      if (!responses.isOver) return isTaken;
      this.stop();
      onOver(responses);
      return true;
    };
    this.#reader = new ResumingReader(
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
        onEnd: () => onOver(responses),
        onError,
      },
    );
    this.#stop = () => {
      if (isOver) return;
      isOver = true;
      fanOut.leave(topic, this.#reader);
      this.#reader.close();
    };
    fanOut.join(topic, this.#reader);
  }

  start(): void {
    this.#reader.start();
  }

  drained(): void {
    this.#reader.drained();
  }

  stop(): void {
    this.#stop();
  }
}
