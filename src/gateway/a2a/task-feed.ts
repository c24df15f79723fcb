import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';
import type { EventFeed } from '../sse/server-sent-events.ts';
import { type FrameSink, ResumingReader } from '../stream/resuming-reader.ts';
import type { SignalFanOut } from '../stream/signal-fan-out.ts';
import type { StreamResponse } from './a2a-objects.ts';
import type { TaskPlace } from './task-id.ts';
import { TurnTask } from './turn-task.ts';

export interface FeedDeps {
  readonly bus: Bus;
  readonly fanOut: SignalFanOut;
  readonly context: RequestContext;
}

/** A task whose turn is in the log. */
export interface BegunTask {
  readonly place: TaskPlace;
  /** Seq of an event of the session that is before the turn. */
  readonly afterSeq: number;
}

export interface FeedListener {
  readonly sink: FrameSink;
  readonly encode: (response: StreamResponse) => string;
  /** Whether nothing more is wanted of the task. */
  readonly isOver: (task: TurnTask) => boolean;
  /** Nothing follows. The session may have been deleted meanwhile. */
  readonly onOver: (task: TurnTask) => void;
  /** The log could not be read, and nothing follows. */
  readonly onError: (error: unknown) => void;
}

/**
 * Reads a task: first as it is by now, then what changes. The listener is called later, never at once. Clients that read
 * nothing get less, but larger pieces of the reply, as every reader of a session does.
 */
export function readTask(
  { bus, fanOut, context }: FeedDeps,
  { place, afterSeq }: BegunTask,
  { sink, encode, isOver, onOver, onError }: FeedListener,
): EventFeed {
  const topic = bus.topicOf(place.sessionId, context);
  let frames = '';
  /** What is before this seq was there before the client asked. */
  let head = 0;
  let isShown = false;
  let hasStopped = false;
  const task = new TurnTask(place, (update) => {
    if (isShown) frames += encode(update);
  });
  const show = (seq: number): void => {
    const { task: shown } = task;
    if (isShown || !shown || seq < head) return;
    isShown = true;
    frames += encode({ task: shown });
  };
  const stop = (): void => {
    hasStopped = true;
    fanOut.leave(topic, reader);
    reader.close();
  };
  const send = (text: string): boolean => {
    if (hasStopped) return true;
    const isTaken = text === '' || sink.send(text);
    if (isShown && isOver(task)) {
      stop();
      onOver(task);
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
        frames = '';
        task.take(signal);
        if ('event' in signal) show(signal.seq);
        return frames;
      },
      encodeResumed: (_, last) => {
        head = last;
        return '';
      },
      wantsReasoning: false,
      onEnd: () => {
        stop();
        onOver(task);
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
