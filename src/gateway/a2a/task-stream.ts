import type { ServiceError } from '../../core/errors.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { holdSession } from '../security/held-session.ts';
import { serverSentEvents } from '../sse/server-sent-events.ts';
import type { A2aCall } from './a2a-call.ts';
import type { StreamResponse } from './a2a-objects.ts';
import { withHistory } from './recorded-task.ts';
import { type BegunTask, readTask } from './task-feed.ts';
import type { TurnTask } from './turn-task.ts';
import { withoutFiles } from './without-files.ts';

/** How a binding writes what a stream tells. */
export interface StreamFormat {
  readonly response: (response: StreamResponse) => object;
  readonly error: (error: ServiceError) => object;
}

/** A stream that can begin. */
export interface TaskStream {
  readonly begun: BegunTask;
  /** Whether nothing more is wanted of the task. */
  readonly isOver: (task: TurnTask) => boolean;
  /** How many messages of its history the task is shown with; undefined: all. */
  readonly historyLength?: number | undefined;
}

/** The task, and then what changes, as server-sent events. The task goes on if the client leaves. */
export function taskStream(
  call: A2aCall,
  { begun, isOver, historyLength }: TaskStream,
  { response: formatOf, error: errorOf }: StreamFormat,
): HttpResponse {
  const { request, bus, context } = call;
  const shown = (told: StreamResponse): StreamResponse =>
    'task' in told ? { task: withoutFiles(withHistory(told.task, historyLength)) } : told;
  holdSession(bus, begun.place.sessionId, { context, credential: request.credential });
  return serverSentEvents(
    (sink) =>
      readTask(call, begun, {
        sink,
        encode: (told) => `data: ${JSON.stringify(formatOf(shown(told)))}\n\n`,
        isOver,
        onOver: () => sink.end(),
        onError: (error) => sink.fail(error),
        onGivenUp: (error) => sink.refuse(error),
      }),
    {
      method: request.method,
      credential: request.credential,
      encodeError: (error) => `event: error\ndata: ${JSON.stringify(errorOf(error))}\n\n`,
    },
  );
}
