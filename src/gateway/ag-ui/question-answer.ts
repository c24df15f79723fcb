import { canonicalJson } from '../../core/content-hash.ts';
import type { PendingInput } from '../../core/session/session-view.ts';
import { filledForm } from '../../core/tool-call/input-form.ts';
import type { InputReply } from '../../ports/service-requests.ts';
import { parseForeign } from '../requests/request-fields.ts';
import { questionId } from './question-interrupts.ts';
import { type OtherAnswer, type ResumePayload, resumePayload, type WantedAnswer } from './resume-answer.ts';
import { ApprovalPayload, type ResumeEntry } from './run-input.ts';
import { runKey } from './run-key.ts';
import type { AskedQuestion } from './turn-state.ts';

type Answer = Omit<InputReply, 'sessionId'>;

const Consent = ApprovalPayload.pick({ approved: true });

/** Reads the answer to what a tool server asks. Whether it fits shows when the question is known. */
export function questionAnswer(entry: ResumeEntry, index: number): WantedAnswer {
  const sent = resumePayload(entry, index, 'Send what the responseSchema of the interrupt describes.');
  return {
    entry,
    in: (_, state) => {
      const question = state.questions.find(({ asked }) => questionId(asked) === entry.interruptId);
      if (!question) return null;
      const answer = answerTo(question.asked, sent);
      return {
        id: entry.interruptId,
        isOpen: !question.end,
        other: otherAnswer(answer, question),
        give: async ({ bus, context, sessionId, input }) => {
          const key = await runKey(input, answer);
          await bus.send('input.answer', { sessionId, ...answer, key }, context);
        },
      };
    },
  };
}

/**
 * An entry that is cancelled says that the interrupt was left alone. An approval has no word for that, so it is denied. A
 * question has one: `cancel`, as for a form that was closed.
 */
function answerTo({ inputId, question }: PendingInput, sent: ResumePayload | null): Answer {
  if (!sent) return { inputId, action: 'cancel' };
  const { payload, at } = sent;
  if (question.mode === 'form')
    return { inputId, action: 'accept', content: filledForm(question.schema, payload, at.join('.')) };
  const { approved } = parseForeign(Consent, payload, at);
  return { inputId, action: approved ? 'accept' : 'decline' };
}

/** A question that ended without an answer was refused, as an approval is then. */
function otherAnswer(answer: Answer, { end }: AskedQuestion): OtherAnswer | null {
  if (!end) return null;
  const { inputId, action, content } = answer;
  const isSame =
    canonicalJson({ action, content }) === canonicalJson({ action: end.action, content: end.content });
  if (isSame || (action !== 'accept' && end.action !== 'accept')) return null;
  return {
    code: 'INPUT_NOT_FOUND',
    message: `The question ${inputId} is not open any more.`,
    details: { inputId },
    reason:
      end.cause.kind === 'answered'
        ? `it was answered before, with ${end.action}`
        : 'it ended before without an answer',
  };
}
