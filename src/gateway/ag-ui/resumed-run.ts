import { ServiceError } from '../../core/errors.ts';
import type { RecordedTurn } from '../turns/recorded-turn.ts';
import { approvalAnswer } from './approval-answer.ts';
import type { AskedRun } from './asked-run.ts';
import { interruptedTurn } from './interrupted-turn.ts';
import { knownThread } from './known-thread.ts';
import { broughtIds } from './message-ids.ts';
import { questionAnswer } from './question-answer.ts';
import { isQuestionId } from './question-interrupts.ts';
import { pauseBefore, stateOf } from './recorded-state.ts';
import type { RunPlan } from './run-events.ts';
import type { ResumeEntry, RunInput } from './run-input.ts';
import { answerForRun, clientAnswers } from './tool-answers.ts';

/**
 * Answers interrupts and goes on with their turn. Those that were answered before, in the same way, are not answered again:
 * the run tells what came of them.
 */
export async function resumedRun(asked: AskedRun, entries: readonly ResumeEntry[]): Promise<RunPlan> {
  const { input } = asked;
  const wanted = entries.map((entry, index) =>
    isQuestionId(entry.interruptId) ? questionAnswer(entry, index) : approvalAnswer(entry, index),
  );
  const turn = await interruptedTurn(asked, entries);
  if (!turn) throw noInterrupts(entries);
  const state = stateOf(turn);
  const found = wanted.map((one) => ({ ...one, answer: one.in(turn, state) }));
  const answers = found.flatMap(({ answer }) => answer ?? []);
  if (answers.length === 0) throw noInterrupts(entries);
  refuseMessage(input, turn);
  const open = answers.filter(({ isOpen }) => isOpen());
  await answerForRun(asked, clientAnswers(input.messages, state));
  for (const { give } of open) await give(asked);
  const decided = answers.map(({ id }) => id);
  const unknown = found.filter(({ answer }) => !answer);
  const place = pauseBefore(turn, decided);
  const thread = await knownThread(asked, turn, place);
  return {
    ...place,
    decided,
    ...(thread && { thread }),
    warnings: unknown.map(
      ({ interruptId: id }) => `The entry of resume for ${id} was left out: nothing asked for it.`,
    ),
  };
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

function noInterrupts(entries: readonly ResumeEntry[]): ServiceError {
  return new ServiceError('APPROVAL_NOT_FOUND', 'The thread has no interrupt with that id.', {
    field: 'resume',
    interruptId: entries[0]?.interruptId,
    suggestion: 'The interrupts are in the outcome of RUN_FINISHED, and in the state of the session.',
  });
}
