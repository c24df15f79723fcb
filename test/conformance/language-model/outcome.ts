import { expect } from 'vitest';
import { ServiceError } from '../../../src/core/errors.ts';
import type { ModelReply, ModelRequest } from '../../../src/ports/language-model.ts';
import { ReplyRecord, replyText } from '../../support/models/replies.ts';
import { KEY, PROMPT, question, STILL_HERE, SYSTEM_PROMPT } from './answers.ts';
import type { Subject } from './harness.ts';

export interface Heard {
  readonly reply: ModelReply;
  readonly heard: ReplyRecord;
}

export async function ask({ model }: Subject, request: ModelRequest = question()): Promise<Heard> {
  const heard = new ReplyRecord();
  const reply = await model.generate(request, heard, new AbortController().signal);
  return { reply, heard };
}

export interface Failed {
  readonly error: ServiceError;
  readonly reason: string;
  readonly heard: ReplyRecord;
}

/** Asks and is refused, as the port promises: with a reason, without the key or the prompt; and the model lives on. */
export async function askInVain(subject: Subject, request: ModelRequest = question()): Promise<Failed> {
  const heard = new ReplyRecord();
  const error = await rejectionOf(subject.model.generate(request, heard, new AbortController().signal));
  if (!(error instanceof ServiceError)) throw new Error('not a ServiceError', { cause: error });
  expect(error.code).toBe('AGENT_ERROR');
  const { reason } = error.details;
  if (typeof reason !== 'string') throw new Error('has no reason');
  expect(reason).toMatch(/\S/);
  expectNoSecret(error);
  const pieces = heard.pieces.length;
  await subject.idle();
  await expectAnswer(subject);
  expect(heard.pieces).toHaveLength(pieces);
  return { error, reason, heard };
}

/** The same model answers the next question. */
export async function expectAnswer(subject: Subject): Promise<void> {
  const { reply } = await ask(subject, question(99));
  expect(replyText(reply)).toBe(STILL_HERE);
}

export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => expect.unreachable('should have been rejected'),
    (error: unknown) => error,
  );
}

function expectNoSecret(error: ServiceError): void {
  const shown = JSON.stringify(error.body) + everythingIn(error);
  for (const secret of [KEY, PROMPT, SYSTEM_PROMPT]) expect(shown).not.toContain(secret);
}

/** Message, stack and properties of an error and of all its causes: all that a log would print. */
function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.message} ${error.stack} ${JSON.stringify(error)} ${everythingIn(error.cause)}`;
}
