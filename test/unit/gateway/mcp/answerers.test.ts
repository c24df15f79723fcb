import { expect, it } from 'vitest';
import { Answerers } from '../../../../src/gateway/mcp/sessions/answerers.ts';

const by = (clientId: string) => ({ token: '', clientId, scopes: [] });

/** A question with this id, and how to answer it. */
function asking(answerers: Answerers, id: number) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const asked = answerers.ask(() => {
    answerers.noteSent({ jsonrpc: '2.0', id, method: 'elicitation/create', params: {} });
    return promise;
  });
  return { ...asked, resolve };
}

it('of several questions, each has the answerer of its own answer', async () => {
  const answerers = new Answerers();
  const [first, second] = [asking(answerers, 1), asking(answerers, 2)];
  answerers.noteReceived({ jsonrpc: '2.0', id: 2, result: {} }, by('bob'));
  expect([first.answerer(), second.answerer()]).toEqual([undefined, by('bob')]);
  answerers.noteReceived({ jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no' } }, by('ada'));
  expect(first.answerer()).toEqual(by('ada'));
});

it('the first answer counts, and an id may be a text', async () => {
  const answerers = new Answerers();
  const question = asking(answerers, 1);
  answerers.noteReceived({ jsonrpc: '2.0', id: '1', result: {} }, by('bob'));
  answerers.noteReceived({ jsonrpc: '2.0', id: 1, result: {} }, by('ada'));
  expect(question.answerer()).toEqual(by('bob'));
});

it('what is no answer, and what comes when the question is over, has no answerer', async () => {
  const answerers = new Answerers();
  const question = asking(answerers, 1);
  answerers.noteReceived({ jsonrpc: '2.0', id: 1, method: 'ping' }, by('ada'));
  answerers.noteSent({ jsonrpc: '2.0', id: 3, method: 'ping' });
  answerers.noteReceived({ jsonrpc: '2.0', id: 3, result: {} }, by('ada'));
  question.resolve('over');
  await question.said;
  answerers.noteReceived({ jsonrpc: '2.0', id: 1, result: {} }, by('ada'));
  expect(question.answerer()).toBeUndefined();
});
