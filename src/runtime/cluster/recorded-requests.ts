import { outcomeOf } from '../../core/session/session-state.ts';
import type { AnswerOf, RequestOf } from '../../ports/service-requests.ts';
import type { Journal } from '../sessions/journal.ts';

/** The answer to a message, if the log has its turn. */
export async function recordedTurn(
  journal: Journal,
  { sessionId, turnId }: RequestOf<'turn.start'>,
): Promise<AnswerOf<'turn.start'> | null> {
  let isRecorded = false;
  for await (const page of journal.pages(sessionId, 0))
    for (const { event } of page) {
      isRecorded ||= event.type === 'turn.requested' && event.turnId === turnId;
      const ended = outcomeOf(event);
      if (ended?.turnId === turnId) return { turnId, outcome: ended.outcome };
    }
  return isRecorded ? { turnId } : null;
}

/** Whether the log has an event of which the command is the cause. */
export async function isCommandRecorded(
  journal: Journal,
  sessionId: string,
  commandId: string,
): Promise<boolean> {
  for await (const page of journal.pages(sessionId, 0))
    if (page.some(({ meta }) => meta?.causationId === commandId)) return true;
  return false;
}
