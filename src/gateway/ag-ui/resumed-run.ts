import { type ErrorBody, ServiceError } from '../../core/errors.ts';
import { errorText } from '../requests/error-text.ts';
import type { RecordedTurn } from '../turns/recorded-turn.ts';
import { approvalAnswer } from './approval-answer.ts';
import type { AskedRun } from './asked-run.ts';
import { interruptedTurn } from './interrupted-turn.ts';
import { shownThread } from './joined-run.ts';
import { knownThread } from './known-thread.ts';
import { broughtIds } from './message-ids.ts';
import { questionAnswer } from './question-answer.ts';
import { isQuestionId } from './question-interrupts.ts';
import { pauseBefore, stateOf } from './recorded-state.ts';
import type { OtherAnswer } from './resume-answer.ts';
import type { RunPlan } from './run-events.ts';
import type { ResumeEntry, RunInput } from './run-input.ts';
import { answerForRun, clientAnswers } from './tool-answers.ts';

/**
 * Answers interrupts and goes on with their turn. Those that were answered before, in the same way, are not answered again:
 * the run tells what came of them. How an interrupt has ended never refuses a cancelled entry, because `HttpAgent` begins
 * no run that leaves out one of its interrupts, and could not run any more.
 */
export async function resumedRun(asked: AskedRun, entries: readonly ResumeEntry[]): Promise<RunPlan> {
  const { input } = asked;
  const wanted = entries.map((entry, index) =>
    isQuestionId(entry.interruptId) ? questionAnswer(entry, index) : approvalAnswer(entry, index),
  );
  const turn = await interruptedTurn(asked, entries);
  if (!turn) return endedRun(asked, entries);
  const state = stateOf(turn);
  const found = wanted.map((one) => ({ ...one, answer: one.in(turn, state) }));
  const answers = found.flatMap(({ answer }) => answer ?? []);
  if (answers.length === 0) return endedRun(asked, entries);
  refuseMessage(input, broughtIds(turn.requested));
  for (const { entry, answer } of found) if (answer?.other && !isLetGo(entry)) throw notOpen(answer.other);
  await answerForRun(asked, clientAnswers(input.messages, state));
  for (const { entry, answer } of found)
    if (answer?.isOpen) await answer.give(asked).catch((error: unknown) => refuseLate(error, entry));
  const warnings = found.flatMap(({ entry, answer }) => {
    if (!answer) return leftOut(entry);
    return answer.other ? leftOut(entry, answer.other.reason) : [];
  });
  const failure = failureOf(turn);
  // A run that ends with an error leaves its interrupts to `HttpAgent`, which would never be rid of them.
  if (failure && entries.every(isLetGo))
    return { ...(await shownThread(asked)), warnings: [...warnings, hasFailed(failure)] };
  const decided = answers.map(({ id }) => id);
  const place = pauseBefore(turn, decided);
  const thread = await knownThread(asked, turn, place);
  return { ...place, decided, ...(thread && { thread }), warnings };
}

/** Why the turn has failed; undefined if it has not. */
function failureOf({ requested: { turnId }, since }: RecordedTurn): ErrorBody | undefined {
  for (const { event } of since)
    if (event.type === 'turn.failed' && event.turnId === turnId) return event.error;
  return undefined;
}

function hasFailed(error: ErrorBody): string {
  return `The turn of the interrupts has failed: ${errorText(error)}`;
}

function isLetGo({ status }: ResumeEntry): boolean {
  return status === 'cancelled';
}

/** Somebody else may decide at the same moment. */
function refuseLate(error: unknown, entry: ResumeEntry): void {
  const isOver =
    error instanceof ServiceError &&
    (error.code === 'APPROVAL_NOT_FOUND' || error.code === 'INPUT_NOT_FOUND');
  if (!isOver || !isLetGo(entry)) throw error;
}

/** Shows the thread to a page that lets go of interrupts which the thread does not have, or has no more. */
async function endedRun(asked: AskedRun, entries: readonly ResumeEntry[]): Promise<RunPlan> {
  if (!entries.every(isLetGo)) throw noInterrupts(entries);
  refuseMessage(asked.input, []);
  const plan = await shownThread(asked);
  return { ...plan, warnings: entries.map((entry) => leftOut(entry)) };
}

function leftOut({ interruptId: id }: ResumeEntry, why = 'nothing asked for it'): string {
  return `The entry of resume for ${id} was left out: ${why}.`;
}

/** Throws if the input also brings a message, which would be lost. @param known ids of messages that are in the thread. */
function refuseMessage({ messages }: RunInput, known: readonly string[]): void {
  const newest = messages.at(-1);
  if (newest?.role !== 'user' || known.includes(newest.id)) return;
  throw new ServiceError('INVALID_REQUEST', 'A run that answers interrupts brings no new message.', {
    field: `messages.${messages.length - 1}`,
    issue: 'it is a message of the user that the thread does not have',
    suggestion: 'Send the message in a run of its own, after this one.',
  });
}

function noInterrupts(entries: readonly ResumeEntry[]): ServiceError {
  return new ServiceError('APPROVAL_NOT_FOUND', 'The thread has no interrupt with that id.', {
    field: 'resume',
    interruptId: entries[0]?.interruptId,
    suggestion: `The interrupts are in the outcome of RUN_FINISHED. ${LET_GO}`,
  });
}

function notOpen({ code, message, details, reason }: OtherAnswer): ServiceError {
  return new ServiceError(code, message, { field: 'resume', ...details, reason, suggestion: LET_GO });
}

const LET_GO = 'To let go of one that is over, send its entry with the status cancelled.';
