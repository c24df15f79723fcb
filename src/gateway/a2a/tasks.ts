import type { A2aCall } from './a2a-call.ts';
import { a2aError } from './a2a-error.ts';
import { hasEnded, type Task } from './a2a-objects.ts';
import type { GetTaskRequest, TaskIdRequest } from './a2a-requests.ts';
import { recordedTask, withHistory } from './recorded-task.ts';
import { taskPlace } from './task-id.ts';
import type { TaskStream } from './task-stream.ts';

export async function getTask({ bus, context }: A2aCall, asked: GetTaskRequest): Promise<Task> {
  const { task } = await recordedTask(bus, taskPlace(asked.id, context.agent), context);
  return withHistory(task, asked.historyLength);
}

/** A task that was cancelled before is shown once more. */
export async function cancelTask({ bus, context }: A2aCall, { id }: TaskIdRequest): Promise<Task> {
  const place = taskPlace(id, context.agent);
  const { task } = await recordedTask(bus, place, context);
  if (!hasEnded(task)) {
    const { sessionId, turnId } = place;
    await bus.send('turn.cancel', { sessionId, turnId, reason: 'the client cancelled the task' }, context);
  }
  const { task: now } = hasEnded(task) ? { task } : await recordedTask(bus, place, context);
  if (now.status.state === 'TASK_STATE_CANCELED') return now;
  throw a2aError('TASK_NOT_CANCELABLE', 'The task has ended already.', {
    taskId: id,
    state: now.status.state,
  });
}

/** Stays open until the task has ended. Throws if it has. */
export async function subscribeToTask(call: A2aCall, { id }: TaskIdRequest): Promise<TaskStream> {
  const { bus, context, request } = call;
  const { place, turn, task } = await recordedTask(bus, taskPlace(id, context.agent), context);
  if (!hasEnded(task)) {
    request.use?.openStream();
    return {
      begun: { place, afterSeq: turn.begin - 1 },
      isOver: (now) => now.task !== null && hasEnded(now.task),
    };
  }
  throw a2aError('UNSUPPORTED_OPERATION', 'The task has ended, and there is nothing to subscribe to.', {
    taskId: id,
    state: task.status.state,
    suggestion: 'Get the task.',
  });
}
