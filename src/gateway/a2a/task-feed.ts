import type { ServiceError } from '../../core/errors.ts';
import { type FollowDeps, type FollowedSession, followSession } from '../stream/followed-session.ts';
import type { FrameSink } from '../stream/resuming-reader.ts';
import type { StreamResponse } from './a2a-objects.ts';
import type { TaskPlace } from './task-id.ts';
import { TurnTask } from './turn-task.ts';

/** A task whose turn is in the log. */
export interface BegunTask {
  readonly place: TaskPlace;
  /** Seq of an event of the session that is before the turn. */
  readonly afterSeq: number;
  /** The message was sent again: another request has begun the task. */
  readonly isRepeated?: true;
}

export interface TaskFeedListener {
  readonly sink: FrameSink;
  readonly encode: (response: StreamResponse) => string;
  /** Whether nothing more is wanted of the task. */
  readonly isOver: (task: TurnTask) => boolean;
  /** Nothing follows. The session may have been deleted meanwhile. */
  readonly onOver: (task: TurnTask) => void;
  /** The log could not be read, and nothing follows. */
  readonly onError: (error: unknown) => void;
  /** The service has given the turn up, and nothing follows. */
  readonly onGivenUp: (error: ServiceError) => void;
}

/**
 * Reads a task: first as it is by now, then what changes. The listener is called later, never at once. Clients that read
 * nothing get less, but larger pieces of the reply, as every reader of a session does.
 */
export function readTask(
  deps: FollowDeps,
  { place, afterSeq }: BegunTask,
  { sink, encode, isOver, onOver, onError, onGivenUp }: TaskFeedListener,
): FollowedSession {
  let frames = '';
  /** What is before this seq was there before the client asked. */
  let head = 0;
  let isShown = false;
  const task = new TurnTask(place, (update) => {
    if (isShown) frames += encode(update);
  });
  const show = (seq: number): void => {
    const { task: shown } = task;
    if (isShown || !shown || seq < head) return;
    isShown = true;
    frames += encode({ task: shown });
  };
  const onEnd = (): void => onOver(task);
  return followSession(deps, {
    sessionId: place.sessionId,
    afterSeq,
    sink,
    begin: (_, last) => {
      head = last;
      return '';
    },
    take: (signal) => {
      frames = '';
      task.take(signal);
      if ('event' in signal) show(signal.seq);
      return frames;
    },
    isOver: () => isShown && isOver(task),
    mayGoOn: () => task.state === 'TASK_STATE_INPUT_REQUIRED',
    onOver: onEnd,
    onDeleted: onEnd,
    onError,
    onGivenUp,
  });
}
