import { asServiceError } from '../../core/errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';
import type { EventFeed, EventSink } from '../sse/server-sent-events.ts';
import { ResumingReader } from '../stream/resuming-reader.ts';
import type { SignalFanOut } from '../stream/signal-fan-out.ts';
import { encodeEvent } from './ag-ui-events.ts';
import { RunEvents, type RunPlan, sessionDeleted } from './run-events.ts';
import type { RunInput } from './run-input.ts';

export interface RunFeedDeps {
  readonly bus: Bus;
  readonly fanOut: SignalFanOut;
  readonly context: RequestContext;
}

/** Tells a run: first what the log has of it, then what happens. */
export function runFeed(
  { bus, fanOut, context }: RunFeedDeps,
  { input, plan }: { readonly input: RunInput; readonly plan: RunPlan },
  sink: EventSink,
): EventFeed {
  const { threadId } = input;
  const topic = bus.topicOf(threadId, context);
  let encoded = '';
  const events = new RunEvents(input, plan, (event) => {
    encoded += encodeEvent(event);
  });
  /** What `tell` has added. */
  const told = (tell: () => void): string => {
    encoded = '';
    tell();
    return encoded;
  };
  const stop = (): void => {
    fanOut.leave(topic, reader);
    reader.close();
  };
  const send = (text: string): boolean => {
    const isTaken = text === '' || sink.send(text);
    if (events.isOver) {
      stop();
      sink.end();
    }
    return isTaken;
  };
  const fail = (error: unknown): void => {
    send(told(() => events.fail(asServiceError(error).body)));
  };
  const reader = new ResumingReader(
    threadId,
    { seq: plan.afterSeq, offset: 0 },
    {
      bus,
      context: () => context,
      sink: { send, bufferedBytes: () => sink.bufferedBytes() },
      encodeResumed: () => told(() => events.begin()),
      encode: (signal) => told(() => events.take(signal)),
      wantsReasoning: true,
      takesKeptReasoning: true,
      onEnd: () => fail(sessionDeleted(threadId)),
      onError: fail,
    },
  );
  fanOut.join(topic, reader);
  reader.start();
  return { drained: () => reader.drained(), stop };
}
