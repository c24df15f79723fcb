import type { z } from 'zod';
import type { SessionEvent, SessionEventOf } from '../../core/log/events.ts';
import type { AnswerInput } from '../../core/tool-call/input-commands.ts';
import { InputAction, InputId } from '../../core/tool-call/input-events.ts';
import { InputRequest, optional } from '../../wire/requests.ts';
import { parseFields } from '../requests/request-fields.ts';
import type { Part } from './a2a-objects.ts';
import { meantId, type WaitingKind } from './meant-id.ts';
import type { AskedFor } from './task-messages.ts';

/** The answer to a question of a tool server that a task waits for. */
export type QuestionAnswer = Omit<AnswerInput, 'type'>;

const SentAnswer = InputRequest.extend({ inputId: optional(InputId) });
type SentAnswer = z.infer<typeof SentAnswer>;

export const QUESTIONS: WaitingKind = {
  noun: 'question',
  field: 'inputId',
  need: 'an answer',
  one: 'the answer to a question',
  several: 'the answers to several questions',
  part: 'the data {"action": "accept", "content": {…}, "inputId": "…"}',
};

/** The texts that answer a question which is all that a task waits for. A form needs data to be accepted. */
export function wordsFor(asked: readonly AskedFor[]): readonly InputAction[] {
  const [only, ...others] = asked;
  if (only?.request.type !== 'input.requested' || others.length > 0) return [];
  const isForm = only.request.question.mode === 'form';
  return InputAction.options.filter((action) => !isForm || action !== 'accept');
}

/** The answer in a part of a message. Null if it has none. Throws if it has one that is not valid. */
export function answerIn({ text, data }: Part, words: readonly InputAction[]): SentAnswer | null {
  if (text === undefined) return hasAction(data) ? parseFields(SentAnswer, data) : null;
  const action = words.find((word) => word === wordIn(text));
  return action ? { action } : null;
}

/** @param waiting the questions that wait. Throws if the answer is to none of them. */
export function questionAnswer(
  { inputId, action, content }: SentAnswer,
  waiting: readonly SessionEventOf<'input.requested'>[],
): QuestionAnswer {
  const ids = waiting.map((question) => question.inputId);
  return { inputId: meantId(inputId, ids, QUESTIONS), action, content };
}

/** Whether the event may be what came of the answer in the part. */
export function isTaken({ text, data }: Part, event: SessionEvent): boolean {
  if (event.type !== 'input.answered' || event.cause.kind !== 'answered') return false;
  const sent = SentAnswer.safeParse(text === undefined ? data : { action: wordIn(text) }).data;
  return sent?.action === event.action && (sent.inputId ?? event.inputId) === event.inputId;
}

function wordIn(text: string): string {
  return text.trim().toLowerCase();
}

function hasAction(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'action' in data;
}
