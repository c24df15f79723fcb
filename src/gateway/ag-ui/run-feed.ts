import { asServiceError, isFailure } from '../../core/errors.ts';
import type { EventFeed, EventSink } from '../sse/server-sent-events.ts';
import { type FollowDeps, followSession } from '../stream/followed-session.ts';
import { encodeEvent } from './ag-ui-events.ts';
import { RunEvents, type RunPlan, sessionDeleted } from './run-events.ts';
import type { RunInput } from './run-input.ts';

/** Tells a run: first what the log has of it, then what happens. */
export function runFeed(
  deps: FollowDeps,
  { input, plan }: { readonly input: RunInput; readonly plan: RunPlan },
  sink: EventSink,
): EventFeed {
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
  const fail = (error: unknown): void => {
    sink.send(told(() => events.fail(asServiceError(error).body)));
    sink.end();
  };
  return followSession(deps, {
    sessionId: input.threadId,
    afterSeq: plan.afterSeq,
    sink,
    wantsReasoning: true,
    takesKeptReasoning: true,
    begin: () => told(() => events.begin()),
    take: (signal) => told(() => events.take(signal)),
    isOver: () => events.isOver,
    onOver: () => sink.end(),
    onDeleted: () => fail(sessionDeleted(input.threadId)),
    onGivenUp: fail,
    // The server logs what nobody could expect, and the client finds its run cut off.
    onError: (error) => (isFailure(asServiceError(error)) ? sink.fail(error) : fail(error)),
  });
}
