import { ServiceError } from '../../core/errors.ts';
import type { CallId } from '../../core/ids.ts';
import type { ApprovalAnswer } from '../../ports/service-requests.ts';
import { type RecordedTurn, turnWithCalls } from '../requests/recorded-turn.ts';
import type { AskedRun } from './asked-run.ts';
import { broughtIds } from './message-ids.ts';
import { pauseBefore, stateOf } from './recorded-state.ts';
import type { RunPlan } from './run-events.ts';
import type { ResumeEntry, RunInput } from './run-input.ts';
import { runKey } from './run-key.ts';
import { answerForRun, clientAnswers } from './tool-answers.ts';
import type { TurnState } from './turn-state.ts';

type Answer = Omit<ApprovalAnswer, 'sessionId'>;

/**
 * Answers interrupts and goes on with their turn. Those that were answered before, in the same way, are not answered again:
 * the run tells what came of them.
 */
export async function resumedRun(asked: AskedRun, entries: readonly ResumeEntry[]): Promise<RunPlan> {
  const { bus, context, sessionId, input } = asked;
  const wanted = entries.map(answerOf);
  const callIds = wanted.map(({ callId }) => callId);
  const turn = await turnWithCalls(bus, { sessionId, callIds }, context);
  const state = turn && stateOf(turn);
  const known = wanted.filter(({ callId }) => state?.decisionOf(callId) && !state.isOfClient(callId));
  if (!turn || !state || known.length === 0) throw noInterrupts(callIds);
  refuseMessage(input, turn);
  const waiting = known.filter((answer) => isWaiting(answer, state));
  await answerForRun(asked, clientAnswers(input.messages, state));
  for (const answer of waiting) {
    const key = await runKey(input, answer);
    await bus.send('approval.answer', { sessionId, ...answer, key }, context);
  }
  const decided = known.map(({ callId }) => callId);
  const unknown = callIds.filter((callId) => !decided.includes(callId));
  return {
    ...pauseBefore(turn, decided),
    decided,
    warnings: unknown.map(
      (callId) => `The entry of resume for ${callId} was left out: nothing asked for it.`,
    ),
  };
}

function answerOf({ interruptId: callId, status, payload }: ResumeEntry, index: number): Answer {
  if (status === 'cancelled') return { callId, approved: false };
  if (!payload)
    throw new ServiceError('MISSING_FIELD', `The field resume.${index}.payload is required.`, {
      field: `resume.${index}.payload`,
      suggestion: 'Send {"approved": true} or {"approved": false}.',
    });
  const { approved, reason, argumentsHash } = payload;
  return { callId, approved, reason, argumentsHash };
}

/** Throws if the call was decided otherwise. */
function isWaiting({ callId, approved }: Answer, state: TurnState): boolean {
  const decision = state.decisionOf(callId);
  if (decision === 'waiting') return true;
  if (decision === (approved ? 'approved' : 'denied')) return false;
  throw new ServiceError('APPROVAL_NOT_FOUND', `The interrupt ${callId} is not open any more.`, {
    ...{ field: 'resume', callId },
    reason: `the call was ${decision} before`,
    suggestion: 'Run the agent without resume to see where the thread is.',
  });
}

/** Throws if the input also brings a message, which would be lost. */
function refuseMessage({ messages }: RunInput, turn: RecordedTurn): void {
  const newest = messages.at(-1);
  if (newest?.role !== 'user' || broughtIds(turn.requested).includes(newest.id)) return;
  throw new ServiceError('INVALID_REQUEST', 'A run that answers interrupts brings no new message.', {
    field: `messages.${messages.length - 1}`,
    issue: 'it is a message of the user that the thread does not have',
    suggestion: 'Send the message in a run of its own, after this one.',
  });
}

function noInterrupts(callIds: readonly CallId[]): ServiceError {
  return new ServiceError('APPROVAL_NOT_FOUND', 'The thread has no interrupt with that id.', {
    field: 'resume',
    callId: callIds[0],
    suggestion: 'The interrupts are in the outcome of RUN_FINISHED, and in the state of the session.',
  });
}
