import { randomUUID } from 'node:crypto';
import { ServiceError } from '../../core/errors.ts';
import { afterLeaving, type RequestContext } from '../../core/request/request-context.ts';
import type { ToolExecution } from '../../core/tool-call/tool.ts';
import type { Bus } from '../../ports/bus.ts';
import type { RequestOf } from '../../ports/service-requests.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { type EventClient, type EventSink, serverSentEvents } from './server-sent-events.ts';

/** A slow reader misses progress beyond this. It never misses the end. */
const MAX_BUFFERED_BYTES = 64 * 1024;

type Call = Omit<RequestOf<'tool.execute'>, 'callId'>;

export interface ToolCallStreamDeps {
  readonly bus: Bus;
  readonly context: RequestContext;
  readonly client: EventClient;
  /** The data of the event `result`. */
  readonly bodyOf: (execution: ToolExecution) => object;
}

/**
 * A tool call as server-sent events: `progress` any number of times, then `result` or `error`. If the client
 * disconnects before, or its credential ends, the call is cancelled. Rejects if the call is refused before it runs.
 */
export async function toolCallStream(
  { bus, context, client, bodyOf }: ToolCallStreamDeps,
  call: Call,
): Promise<HttpResponse> {
  const callId = randomUUID();
  const begun = Promise.withResolvers<void>();
  let sink: EventSink | undefined;
  const unwatch = bus.onToolCall(callId, (signal) => {
    if (signal.type === 'tool.begun') begun.resolve();
    else if (signal.type === 'tool.progress' && sink && sink.bufferedBytes() <= MAX_BUFFERED_BYTES)
      sink.send(event('progress', signal.progress));
  });
  const answer = bus.send('tool.execute', { ...call, callId }, context);
  try {
    // A repeated request with a key never begins: it gets the answer of the first one.
    await Promise.race([begun.promise, answer]);
  } catch (error) {
    unwatch();
    throw error;
  }
  return serverSentEvents((opened) => {
    sink = opened;
    let isOver = false;
    const stop = (): void => {
      unwatch();
      // The call may have ended meanwhile, and nobody is left to be told.
      if (!isOver) bus.send('tool.cancel', { callId }, afterLeaving(context)).catch(() => undefined);
      isOver = true;
    };
    const finish = (last: () => void): void => {
      if (isOver) return;
      isOver = true;
      last();
    };
    answer.then(
      (execution) =>
        finish(() => {
          opened.send(event('result', bodyOf(execution)));
          opened.end();
        }),
      (error: unknown) =>
        finish(() => {
          if (!(error instanceof ServiceError)) return opened.fail(error);
          opened.refuse(error);
        }),
    );
    return { drained: () => undefined, stop };
  }, client);
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
