import type { SessionId, TurnId } from '../../core/ids.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { StreamCursor } from '../../core/session/stream-cursor.ts';
import { readEvents } from '../turns/read-events.ts';
import type { A2aCall } from './a2a-call.ts';
import type { Task } from './a2a-objects.ts';
import { TurnTask } from './turn-task.ts';

/** All tasks of a context, as the log has them, oldest first. */
export async function contextTasks({ bus, context }: A2aCall, sessionId: SessionId): Promise<Task[]> {
  const turns = new Map<TurnId, TurnTask>();
  const cursor = new StreamCursor({ seq: 0, offset: 0 });
  for await (const envelope of readEvents(bus, { sessionId, after: 0 }, context)) {
    const { event } = envelope;
    if (event.type === 'turn.requested')
      turns.set(event.turnId, new TurnTask({ agentId: context.agent, sessionId, turnId: event.turnId }));
    for (const signal of cursor.take(envelope)) turns.get(turnOf(signal) ?? '')?.take(signal);
  }
  return [...turns.values()].flatMap(({ task }) => task ?? []);
}

function turnOf(signal: SessionSignal): TurnId | undefined {
  if ('event' in signal) return 'turnId' in signal.event ? signal.event.turnId : undefined;
  return 'turnId' in signal ? signal.turnId : undefined;
}
