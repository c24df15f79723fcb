import { ServiceError } from '../../core/errors.ts';
import type { CallId } from '../../core/ids.ts';
import { newestEvents } from '../turns/read-events.ts';
import { type CallOfTurn, callsIn, type RecordedTurn, turnWithCalls } from '../turns/recorded-turn.ts';
import type { AskedRun } from './asked-run.ts';
import { isFor } from './interrupts.ts';
import { isAskedIn } from './question-interrupts.ts';
import type { ResumeEntry } from './run-input.ts';

/**
 * The turn that asked. An id that names no turn, as clients had it of earlier versions, stands for the call with that id, as
 * long as only one turn has asked for it.
 */
export async function interruptedTurn(
  { bus, context, sessionId }: AskedRun,
  entries: readonly ResumeEntry[],
): Promise<RecordedTurn | null> {
  const asks = (call: CallOfTurn): boolean =>
    entries.some(({ interruptId: id }) => isFor(id, call) || isAskedIn(id, call.turnId));
  const turn = await turnWithCalls(bus, { sessionId, isWanted: asks }, context);
  if (!turn) return null;
  const bare = callsIn(turn.since, turn.requested.turnId).filter((callId) =>
    entries.some((entry) => entry.interruptId === callId),
  );
  if (bare.length === 0) return turn;
  for await (const { event } of newestEvents(bus, { sessionId, head: turn.begin - 1 }, context))
    if (event.type === 'approval.requested' && bare.includes(event.callId)) throw ambiguous(event.callId);
  return turn;
}

function ambiguous(callId: CallId): ServiceError {
  return new ServiceError('APPROVAL_NOT_FOUND', 'The id does not say which interrupt is meant.', {
    field: 'resume',
    callId,
    reason: 'several turns of the thread have asked for the approval of a call with this id',
    suggestion: 'Send the id of the interrupt, which is in the outcome of RUN_FINISHED.',
  });
}
