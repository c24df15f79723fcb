import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/core/errors.ts';
import type { InputQuestion } from '../../../../src/core/tool-call/input-events.ts';
import type { Part } from '../../../../src/gateway/a2a/a2a-objects.ts';
import { messageAnswer } from '../../../../src/gateway/a2a/message-answer.ts';
import type { AskedFor } from '../../../../src/gateway/a2a/task-messages.ts';

const FORM: InputQuestion = { mode: 'form', schema: { type: 'object', properties: {} } };
const ADDRESS: InputQuestion = { mode: 'url', url: 'https://example.com' };
const SAMPLING: InputQuestion = { mode: 'sampling', prompt: 'hello', maxTokens: 5 };

const call = (callId: string) => ({ turnId: 't1', callId, toolName: 'pay' });

function approval(callId: string): AskedFor {
  const subject = { serverId: 'bank', arguments: {}, argumentsHash: 'hash' };
  return { request: { type: 'approval.requested', ...call(callId), ...subject }, since: 0 };
}

function question(inputId: string, asked: InputQuestion): AskedFor {
  const subject = { serverId: 'bank', inputId, message: 'Well?', question: asked };
  return { request: { type: 'input.requested', ...call('c0'), ...subject }, since: 0 };
}

const lent: AskedFor = {
  request: { type: 'tool-call.delegated', ...call('c3'), serverId: null, arguments: {} },
  since: 0,
};

/** @param said texts, and data. */
function answerOf(asked: readonly AskedFor[], ...said: readonly (string | object)[]) {
  const parts = said.map((one): Part => (typeof one === 'string' ? { text: one } : { data: one }));
  return messageAnswer({ messageId: 'm1', role: 'ROLE_USER', parts }, asked);
}

/** What the error says, with its suggestion. */
function refusalOf(...given: Parameters<typeof answerOf>): string {
  try {
    return `no error, but ${JSON.stringify(answerOf(...given))}`;
  } catch (error) {
    return error instanceof ServiceError ? JSON.stringify(error.body) : String(error);
  }
}

describe('the answer in a message', () => {
  it('is a word for a question that alone is waited for', () => {
    expect(answerOf([question('i1', FORM)], ' Decline ')).toEqual({
      input: { inputId: 'i1', action: 'decline' },
    });
    for (const asked of [ADDRESS, SAMPLING])
      expect(answerOf([question('i1', asked)], 'accept')).toEqual({
        input: { inputId: 'i1', action: 'accept' },
      });
    expect(refusalOf([question('i1', FORM)], 'accept')).toContain('the text decline or cancel, or the data');
    for (const other of [question('i2', FORM), approval('c1'), lent])
      expect(refusalOf([question('i1', ADDRESS), other], 'decline')).not.toContain('the text decline');
  });

  it('is data of the shape that says what it answers', () => {
    const both = [approval('c1'), question('i1', FORM)];
    expect(answerOf(both, { approve: true })).toMatchObject({ approval: { callId: 'c1', approved: true } });
    expect(answerOf(both, 'deny')).toMatchObject({ approval: { callId: 'c1', approved: false } });
    const content = { size: 'large' };
    expect(answerOf(both, 'here you are', { action: 'accept', content, inputId: null })).toEqual({
      input: { inputId: 'i1', action: 'accept', content },
    });
    expect(refusalOf(both, { approve: true }, { action: 'cancel' })).toContain(
      'The task waits for an approval and the answer to a question, and the message is none.',
    );
  });

  it('says which of several questions it is for', () => {
    const several = [question('i1', FORM), question('i2', ADDRESS)];
    expect(answerOf(several, { action: 'cancel', inputId: 'i2' })).toEqual({
      input: { inputId: 'i2', action: 'cancel' },
    });
    expect(refusalOf(several, { action: 'cancel' })).toContain('for which question');
    expect(refusalOf(several, { action: 'cancel', inputId: 'i3' })).toContain('No question i3');
  });

  it('is not looked for where nothing waits for it', () => {
    expect(answerOf([approval('c1')], 'cancel', { action: 'perhaps' }, { approve: true })).toMatchObject({
      approval: { callId: 'c1' },
    });
    expect(refusalOf([approval('c1')], { action: 'accept' })).toContain('waits for an approval, and');
    expect(refusalOf([question('i1', FORM)], 'approve')).toContain('waits for the answer to a question, and');
    expect(refusalOf([lent], 'cancel')).toContain('the client that lent a tool');
  });

  it('names the field that is not valid', () => {
    const fieldOf = (said: object) => refusalOf([question('i1', FORM)], said);
    expect(fieldOf({ action: 'perhaps' })).toContain('"field":"action"');
    expect(fieldOf({ action: 'accept', content: 'large' })).toContain('"field":"content"');
    expect(fieldOf({ action: 'accept', input_id: 'i1' })).toContain('inputId');
  });
});
