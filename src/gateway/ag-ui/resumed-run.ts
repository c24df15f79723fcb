import { ServiceError } from '../../core/errors.ts';
import type { CallId } from '../../core/ids.ts';
import type { ApprovalAnswer } from '../../ports/service-requests.ts';
import {
  type CallOfTurn,
  callsIn,
  newestEvents,
  type RecordedTurn,
  turnWithCalls,
} from '../turns/recorded-turn.ts';
import type { AskedRun } from './asked-run.ts';
import { interruptId } from './interrupts.ts';
import { broughtIds } from './message-ids.ts';
import { pauseBefore, stateOf } from './recorded-state.ts';
import type { RunPlan } from './run-events.ts';
import type { ResumeEntry, RunInput } from './run-input.ts';
import { runKey } from './run-key.ts';
import { answerForRun, clientAnswers } from './tool-answers.ts';
import type { TurnState } from './turn-state.ts';

type Answer = Omit<ApprovalAnswer, 'sessionId'>;

interface WantedAnswer extends Omit<Answer, 'callId'> {
  /** Of the interrupt. */
  readonly id: string;
}

/**
 * Answers interrupts and goes on with their turn. Those that were answered before, in the same way, are not answered again:
 * the run tells what came of them.
 */
export async function resumedRun(asked: AskedRun, entries: readonly ResumeEntry[]): Promise<RunPlan> {
  const { bus, context, sessionId, input } = asked;
  const wanted = entries.map(answerOf);
  const turn = await interruptedTurn(asked, entries);
  const state = turn && stateOf(turn);
  const known = wanted.flatMap((answer) => (turn && state ? interruptIn(answer, turn, state) : []));
  if (!turn || !state || known.length === 0) throw noInterrupts(entries);
  refuseMessage(input, turn);
  const waiting = known.filter((answer) => isWaiting(answer, state));
  await answerForRun(asked, clientAnswers(input.messages, state));
  for (const answer of waiting) {
    const key = await runKey(input, answer);
    await bus.send('approval.answer', { sessionId, ...answer, key }, context);
  }
  const decided = known.map(({ callId }) => callId);
  const unknown = wanted.filter((answer) => interruptIn(answer, turn, state).length === 0);
  return {
    ...pauseBefore(turn, decided),
    decided,
    warnings: unknown.map(({ id }) => `The entry of resume for ${id} was left out: nothing asked for it.`),
  };
}

/**
 * The turn that asked. An id that names no turn, as clients had it of earlier versions, stands for the call with that id, as
 * long as only one turn has asked for it.
 */
async function interruptedTurn(
  { bus, context, sessionId }: AskedRun,
  entries: readonly ResumeEntry[],
): Promise<RecordedTurn | null> {
  const turn = await turnWithCalls(
    bus,
    { sessionId, isWanted: (call) => entries.some((entry) => isFor(entry.interruptId, call)) },
    context,
  );
  if (!turn) return null;
  const bare = callsIn(turn.since, turn.requested.turnId).filter((callId) =>
    entries.some((entry) => entry.interruptId === callId),
  );
  if (bare.length === 0) return turn;
  for await (const { event } of newestEvents(bus, { sessionId, head: turn.begin - 1 }, context))
    if (event.type === 'approval.requested' && bare.includes(event.callId)) throw ambiguous(event.callId);
  return turn;
}

function isFor(id: string, call: CallOfTurn): boolean {
  return id === interruptId(call) || id === call.callId;
}

/** The answer to the call of the turn that asked for it. Empty if none did. */
function interruptIn({ id, ...answer }: WantedAnswer, turn: RecordedTurn, state: TurnState): Answer[] {
  const { turnId } = turn.requested;
  const callId = callsIn(turn.since, turnId).find((called) => isFor(id, { turnId, callId: called }));
  const isAsked = callId !== undefined && state.decisionOf(callId) && !state.isOfClient(callId);
  return isAsked ? [{ callId, ...answer }] : [];
}

function answerOf({ interruptId: id, status, payload }: ResumeEntry, index: number): WantedAnswer {
  if (status === 'cancelled') return { id, approved: false };
  if (!payload)
    throw new ServiceError('MISSING_FIELD', `The field resume.${index}.payload is required.`, {
      field: `resume.${index}.payload`,
      suggestion: 'Send {"approved": true} or {"approved": false}.',
    });
  const { approved, reason, argumentsHash } = payload;
  return { id, approved, reason, argumentsHash };
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

function ambiguous(callId: CallId): ServiceError {
  return new ServiceError('APPROVAL_NOT_FOUND', 'The id does not say which interrupt is meant.', {
    ...{ field: 'resume', callId },
    reason: 'several turns of the thread have asked for the approval of a call with this id',
    suggestion: 'Send the id of the interrupt, which is in the outcome of RUN_FINISHED.',
  });
}

function noInterrupts(entries: readonly ResumeEntry[]): ServiceError {
  return new ServiceError('APPROVAL_NOT_FOUND', 'The thread has no interrupt with that id.', {
    field: 'resume',
    interruptId: entries[0]?.interruptId,
    suggestion: 'The interrupts are in the outcome of RUN_FINISHED, and in the state of the session.',
  });
}
