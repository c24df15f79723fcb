import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FakeStreamSocket } from '../../support/sockets/fake-stream-service.ts';

/** As a text, because the code of the page has the types of a browser, which tests lack. */
const MODULE: string = fileURLToPath(new URL('../../../src/console/service/hub/hub.ts', import.meta.url));

const JOIN = { kind: 'session.join', session: 's', seq: 0, time: 0, clockAheadMs: 0 };
const LEAVE = { kind: 'session.leave', session: 's' };
const send = (id: number, content: string) => ({
  kind: 'session.do',
  session: 's',
  id,
  action: { name: 'send', content, options: { clientMessageId: `c${id}` } },
});
const recorded = (seq: number, id: number, content: string) => ({
  event: 'message',
  turnId: `t${id}`,
  seq,
  data: { content, clientMessageId: `c${id}` },
});

const REVOKED = JSON.stringify({
  success: false,
  error: { code: 'UNAUTHORIZED', message: 'The key was revoked.', details: {} },
});

const sockets: FakeStreamSocket[] = [];

beforeEach(() => {
  sockets.length = 0;
  vi.stubGlobal('self', { location: { pathname: '/', origin: 'http://host:1' } });
  vi.stubGlobal(
    'WebSocket',
    class extends FakeStreamSocket {
      constructor(url: string) {
        super(url);
        sockets.push(this);
      }
    },
  );
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A tab whose messages the hub gets at once, and what the hub has answered to its actions. */
async function openTab() {
  const { Hub } = await import(MODULE);
  const answers: unknown[] = [];
  const joins: unknown[] = [];
  const signOuts: unknown[] = [];
  let tell = (_: { readonly data: object }): void => undefined;
  new Hub().accept({
    addEventListener: (type: string, listener: typeof tell) => {
      if (type === 'message') tell = listener;
    },
    start: () => undefined,
    postMessage: (message: { readonly kind: string }) => {
      if (message.kind === 'done' || message.kind === 'failed') answers.push(message);
      if (message.kind === 'session.joined') joins.push(message);
      if (message.kind === 'signed-out') signOuts.push(message);
    },
  });
  const say = (...messages: object[]): void => {
    for (const data of messages) tell({ data });
  };
  return { answers, joins, signOuts, say };
}

function lastSocket(): FakeStreamSocket {
  const socket = sockets.at(-1);
  if (!socket) throw new Error('the hub has no connection');
  return socket;
}

it('a session that is left waits for the answer to a message that was sent, and closes then', async () => {
  const { say, answers } = await openTab();
  say(JOIN);
  const socket = lastSocket();
  socket.resumed(0);
  say(send(1, 'one'), LEAVE);
  expect(socket.sent).toMatchObject([{ content: 'one' }]);
  expect(socket.isClosed).toBe(false);
  socket.say(recorded(1, 1, 'one'));
  await vi.waitFor(() => expect(socket.isClosed).toBe(true));
  expect(answers).toMatchObject([{ kind: 'done', id: 1, result: { turnId: 't1' } }]);
});

it('a session that is left closes at once without such a message, and gives back what was not sent', async () => {
  const { say, answers } = await openTab();
  say(JOIN, send(1, 'one'), LEAVE);
  expect(lastSocket().isClosed).toBe(true);
  await vi.waitFor(() => expect(answers).toMatchObject([{ kind: 'failed', id: 1, name: 'ClosedError' }]));
});

it('a session that is left does not wait for an answer for ever', async () => {
  vi.useFakeTimers();
  const { say, answers } = await openTab();
  say(JOIN);
  lastSocket().resumed(0);
  say(send(1, 'one'), LEAVE);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(lastSocket().isClosed).toBe(true);
  expect(answers).toMatchObject([{ kind: 'failed', id: 1, name: 'ClosedError' }]);
});

it('a session that is opened again while it waits goes on with the same connection', async () => {
  vi.useFakeTimers();
  const { say, answers, joins } = await openTab();
  say(JOIN);
  lastSocket().resumed(0);
  say(send(1, 'one'), LEAVE, JOIN);
  expect(joins).toMatchObject([
    { joined: { state: { unanswered: [] } } },
    { joined: { state: { unanswered: [{ clientMessageId: 'c1', content: 'one' }] } } },
  ]);
  await vi.advanceTimersByTimeAsync(20_000);
  lastSocket().say(recorded(1, 1, 'one'));
  await vi.advanceTimersByTimeAsync(0);
  expect(answers).toMatchObject([{ kind: 'done', id: 1 }]);
  expect(sockets).toMatchObject([{ isClosed: false }]);
});

it('tells which key the service refuses', async () => {
  const { say, signOuts } = await openTab();
  vi.stubGlobal('fetch', async () => new Response(REVOKED, { status: 401 }));
  say({ kind: 'key', key: 'as_1', isRenewable: false }, JOIN);
  await vi.waitFor(() =>
    expect(signOuts).toEqual([{ kind: 'signed-out', key: 'as_1', reason: 'The key was revoked.' }]),
  );
});
