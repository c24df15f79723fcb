import { ServiceError } from '../../core/errors.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { RecordedTurn } from '../turns/recorded-turn.ts';
import type { Message } from './a2a-objects.ts';
import {
  APPROVALS,
  type ApprovalDecision,
  approvalDecision,
  decisionIn,
  isDecided,
} from './approval-decision.ts';
import { suggestionOf } from './meant-id.ts';
import {
  answerIn,
  isTaken,
  QUESTIONS,
  type QuestionAnswer,
  questionAnswer,
  wordsFor,
} from './question-answer.ts';
import type { AskedFor } from './task-messages.ts';

/** What a message answers: whether a call may run, or what its tool server asks. */
export type MessageAnswer = { readonly approval: ApprovalDecision } | { readonly input: QuestionAnswer };

/** What a message answers to what its task waits for. Throws if it answers nothing of that. */
export function messageAnswer({ parts }: Message, asked: readonly AskedFor[]): MessageAnswer {
  const requests = asked.map(({ request }) => request);
  const approvals = requests.filter(({ type }) => type === 'approval.requested').map(({ callId }) => callId);
  const questions = requests.filter((request) => request.type === 'input.requested');
  if (approvals.length + questions.length === 0) throw onlyOfClient(asked);
  const words = wordsFor(asked);
  // What nothing waits for is no answer, but something that is said beside one.
  const decisions = approvals.length === 0 ? [] : parts.flatMap((part) => decisionIn(part) ?? []);
  const answers = questions.length === 0 ? [] : parts.flatMap((part) => answerIn(part, words) ?? []);
  const [decision, answer] = [decisions[0], answers[0]];
  if (decisions.length + answers.length === 1) {
    if (decision) return { approval: approvalDecision(decision, approvals) };
    if (answer) return { input: questionAnswer(answer, questions) };
  }
  throw noAnswer({ approvals, inputs: questions.map(({ inputId }) => inputId), words });
}

/**
 * Whether the message was sent before, and the log has its answer.
 * @param isSent whether the message that was sent before has caused the event.
 */
export function isAnswered(
  { requested: { turnId }, since }: RecordedTurn,
  { parts }: Message,
  isSent: (envelope: Envelope) => boolean,
): boolean {
  return since.some((envelope) => {
    const { event } = envelope;
    if (!('turnId' in event) || event.turnId !== turnId || !isSent(envelope)) return false;
    return parts.some((part) => isDecided(part, event) || isTaken(part, event));
  });
}

interface Waiting {
  readonly approvals: readonly string[];
  readonly inputs: readonly string[];
  readonly words: readonly string[];
}

function noAnswer({ approvals, inputs, words }: Waiting): ServiceError {
  const kinds = [...(approvals.length > 0 ? [APPROVALS] : []), ...(inputs.length > 0 ? [QUESTIONS] : [])];
  const what = kinds.map(({ one }) => one).join(' and ');
  const texts = words.length > 0 ? [`the text ${words.join(' or ')}`] : [];
  return new ServiceError('INVALID_REQUEST', `The task waits for ${what}, and the message is none.`, {
    field: 'message.parts',
    issue: 'it has not exactly one decision',
    waiting: [...approvals, ...inputs],
    suggestion: suggestionOf(...texts, ...kinds.map(({ part }) => part)),
  });
}

function onlyOfClient(asked: readonly AskedFor[]): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The task waits for the client that lent a tool to it.', {
    field: 'message.taskId',
    issue: `the calls ${asked.map(({ request }) => request.callId).join(', ')} cannot be answered here`,
    suggestion: 'Answer them by the interface that the message came by.',
  });
}
