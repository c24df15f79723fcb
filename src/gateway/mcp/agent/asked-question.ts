import type { SessionId } from '../../../core/ids.ts';
import type { Envelope } from '../../../core/log/envelope.ts';
import type { PendingApproval, PendingInput } from '../../../core/session/session-view.ts';
import { pendingApproval, pendingInput } from '../../../core/session/view-session.ts';
import type { Bus } from '../../../ports/bus.ts';
import { howToAnswer, howToDecide, type WaitingSession } from '../../turns/how-to-answer.ts';
import type { McpCall } from '../mcp-call.ts';
import type { McpObject } from '../mcp-object.ts';
import { approvalQuestion, canDecide, decide } from './asked-approval.ts';
import type { Answered } from './asked-client.ts';
import { answerInput, canAnswer, inputQuestion } from './asked-input.ts';

/* What a turn waits for, as a question to the MCP client (elicitation). */

/** `input`: what a tool server asks while it works on a call of the turn. */
export type Question =
  | { readonly kind: 'approval'; readonly approval: PendingApproval }
  | { readonly kind: 'input'; readonly input: PendingInput };

export function keyOf(question: Question): string {
  return question.kind === 'approval' ? approvalKey(question.approval) : inputKey(question.input);
}

export function approvalKey({ callId }: Pick<PendingApproval, 'callId'>): string {
  return `approval:${callId}`;
}

export function inputKey({ inputId }: Pick<PendingInput, 'inputId'>): string {
  return `input:${inputId}`;
}

/** The question that is asked with the event. Null if it is another event. */
export function askedIn({ event, time }: Envelope): Question | null {
  switch (event.type) {
    case 'approval.requested':
      return { kind: 'approval', approval: pendingApproval(event, time) };
    case 'input.requested':
      return { kind: 'input', input: pendingInput(event, time) };
    default:
      return null;
  }
}

export function turnOf(question: Question): string {
  return question.kind === 'approval' ? question.approval.turnId : question.input.turnId;
}

/** Whether the client can ask its user, who may answer. */
export function canBeAsked(question: Question, call: McpCall): boolean {
  return question.kind === 'approval' ? canDecide(call) : canAnswer(question.input, call);
}

/** The parameters of `elicitation/create`. */
export function elicitationOf(question: Question): McpObject {
  return question.kind === 'approval' ? approvalQuestion(question.approval) : inputQuestion(question.input);
}

/** In the newer era: the questions of a result, by the keys of their answers. */
export function questionsOf(questions: readonly Question[]): McpObject {
  return Object.fromEntries(
    questions.map((question) => [
      keyOf(question),
      { method: 'elicitation/create', params: { mode: 'form', ...elicitationOf(question) } },
    ]),
  );
}

/** Does what the client answered. */
export function takeAnswer(
  bus: Bus,
  { sessionId, question, answer }: ClientAnswer,
  call: Pick<McpCall, 'context'>,
): Promise<Answered> {
  return question.kind === 'approval'
    ? decide(bus, { sessionId, approval: question.approval, answer }, call)
    : answerInput(bus, { sessionId, input: question.input, answer }, call);
}

interface ClientAnswer {
  readonly sessionId: SessionId;
  readonly question: Question;
  readonly answer: unknown;
}

/** What the questions are and how to answer them, for people. */
export function describeQuestions(session: WaitingSession, questions: readonly Question[]): string {
  const approvals = questions.flatMap((question) =>
    question.kind === 'approval' ? [question.approval] : [],
  );
  const inputs = questions.flatMap((question) => (question.kind === 'input' ? [question.input] : []));
  return [
    ...(approvals.length > 0 ? [`The agent needs approval. ${howToDecide(session, approvals)}`] : []),
    ...inputs.map((input) => howToAnswer(session, input)),
  ].join(' ');
}

/** The log message about a question that waits for somebody. */
export function noticeOf(session: WaitingSession, question: Question) {
  const message = describeQuestions(session, [question]);
  return question.kind === 'approval'
    ? ({ level: 'notice', logger: 'approvals', data: { message, approvals: [question.approval] } } as const)
    : ({ level: 'notice', logger: 'inputs', data: { message, inputs: [question.input] } } as const);
}
