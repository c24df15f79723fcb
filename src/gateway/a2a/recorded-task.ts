import type { RequestContext } from '../../core/request/request-context.ts';
import { StreamCursor } from '../../core/session/stream-cursor.ts';
import type { Bus } from '../../ports/bus.ts';
import { type RecordedTurn, recordedTurn } from '../turns/recorded-turn.ts';
import type { Task } from './a2a-objects.ts';
import { noTask, type TaskPlace, taskId } from './task-id.ts';
import { TurnTask } from './turn-task.ts';

/** A task as the log has it. */
export interface RecordedTask {
  readonly place: TaskPlace;
  readonly turn: RecordedTurn;
  readonly turnTask: TurnTask;
  readonly task: Task;
}

/** Throws `TASK_NOT_FOUND`. */
export async function recordedTask(
  bus: Bus,
  place: TaskPlace,
  context: RequestContext,
): Promise<RecordedTask> {
  const turn = await recordedTurn(bus, place, context);
  if (!turn) throw noTask(taskId(place));
  const turnTask = new TurnTask(place);
  const cursor = new StreamCursor({ seq: turn.begin - 1, offset: 0 });
  for (const envelope of turn.since) for (const signal of cursor.take(envelope)) turnTask.take(signal);
  if (turn.end === undefined) {
    const { head, running } = await bus.send('session.position', { sessionId: place.sessionId }, context);
    // After another event, the running text may belong to another step.
    if (running && head === cursor.seq) for (const signal of cursor.take(running)) turnTask.take(signal);
  }
  const { task } = turnTask;
  if (!task) throw noTask(taskId(place));
  return { place, turn, turnTask, task };
}

/** The task with so many messages of its history; undefined: all. */
export function withHistory(task: Task, historyLength: number | undefined): Task {
  const { history = [], ...others } = task;
  const kept =
    historyLength === undefined ? history : history.slice(Math.max(0, history.length - historyLength));
  return kept.length === 0 ? others : { ...others, history: kept };
}
