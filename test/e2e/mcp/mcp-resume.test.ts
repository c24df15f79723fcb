import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { rawRequest } from '../../support/sockets/raw-http.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { startGateway } from '../../support/tools/gateway.ts';
import {
  chatCall,
  EventReader,
  eventsOf,
  messagesOf,
  readAndCut,
  resumableSession,
  resumed,
  type SentEvent,
  toldText,
} from '../../support/tools/mcp/resumed-stream.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { initializeMcp, openMcp, postMcp } from '../../support/tools/mcp-http.ts';
import { verifies } from '../requirements.ts';

const YAML = `${SCRIPTED}server: { drainTimeoutMs: 0 }\nlimits: { requestsPerMinute: false }\n`;

async function startDirected(options: object = {}) {
  const model = new DirectedModel();
  const service = await RunningService.start({ yaml: YAML, adapters: { model }, ...options });
  return { model, service, port: service.port, [Symbol.asyncDispose]: () => service.close() };
}

const isFirstPiece = ({ message }: SentEvent): boolean => message?.method === 'notifications/progress';
const isAnswer = ({ message }: SentEvent): boolean => message?.result !== undefined;

describe('a stream of /mcp that breaks', () => {
  verifies('mcp.resume', async () => {
    await using setup = await startDirected();
    const { model, port } = setup;
    const session = await resumableSession(port);
    const response = await openMcp(port, 'POST', session, chatCall(2, 'tell me'));
    const call = await model.call(0);
    call.say('Once ');
    const before = await readAndCut(response, isFirstPiece);
    expect(before[0]?.message).toBeNull();
    expect(before[0]?.text).toContain('retry: 1000');
    call.say('upon ');
    const rest = await resumed(port, session, before.at(-1)?.id ?? '');
    call.answer('a time.');
    const after = eventsOf(await rest.body);
    expect(toldText([...before, ...after])).toBe('Once upon a time.');
    const progress = [...before, ...after].flatMap(({ message }) => message?.params?.progress ?? []);
    expect(progress).toEqual([...new Set(progress)].sort((a, b) => a - b));
    expect(after.filter(isAnswer)).toHaveLength(1);
    expect(after.at(-1)?.message).toMatchObject({
      id: 2,
      result: { structuredContent: { reply: 'Once upon a time.' } },
    });
    expect(call.signal.aborted).toBe(false);
  });

  verifies(
    'mcp.resume',
    'each position leads to the same rest, from memory to the byte, and from the log',
    async () => {
      await using setup = await startDirected();
      const { model, port } = setup;
      const session = await resumableSession(port);
      const whole = openMcp(port, 'POST', session, chatCall(2, 'tell me')).then(text);
      const call = await model.call(0);
      for (const piece of ['one ', 'two ', 'three ']) {
        call.say(piece);
        await setImmediate();
      }
      call.answer('four');
      const events = eventsOf(await whole);
      expect(events).toHaveLength(6);
      const other = await resumableSession(port);
      for (const [index, { id }] of events.entries()) {
        const missed = events.slice(index + 1);
        const kept = await resumed(port, session, id);
        expect(messagesOf(eventsOf(await kept.body))).toBe(messagesOf(missed));
        // Another MCP session of the same client has nothing of it in memory.
        const read = eventsOf(await (await resumed(port, other, id)).body);
        expect(toldText(read)).toBe(toldText(missed));
        expect(read.find(isAnswer)?.message).toEqual(missed.find(isAnswer)?.message);
        for (const event of read) {
          const again = eventsOf(await (await resumed(port, other, event.id)).body);
          expect(toldText(again)).toBe(toldText(read.slice(read.indexOf(event) + 1)));
        }
      }
    },
  );

  verifies(
    'mcp.resume',
    'to break a stream cancels nothing; a cancellation ends the stream that was resumed',
    async () => {
      await using setup = await startDirected();
      const { model, port } = setup;
      const session = await resumableSession(port);
      const cut = await openMcp(port, 'POST', session, chatCall(2, 'think'));
      const call = await model.call(0);
      const [priming] = await readAndCut(cut, () => true);
      const again = await resumed(port, session, priming?.id ?? '');
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } };
      expect(call.signal.aborted).toBe(false);
      expect((await postMcp(port, cancelled, session)).status).toBe(202);
      await call.aborted;
      expect(eventsOf(await again.body).filter(isAnswer)).toEqual([]);
    },
  );

  verifies(
    'mcp.resume',
    'the client that came back last gets the rest, and no stream before it',
    async () => {
      await using setup = await startDirected();
      const { model, port } = setup;
      const session = await resumableSession(port);
      // The service does not know that this client is gone.
      const silent = await openMcp(port, 'POST', session, chatCall(2, 'think'));
      const call = await model.call(0);
      const [first] = await silent.take(1).toArray();
      const id = eventsOf(String(first))[0]?.id ?? '';
      const taken = await resumed(port, session, id);
      const last = await resumed(port, session, id);
      call.answer('yes');
      expect(eventsOf(await last.body).filter(isAnswer)).toHaveLength(1);
      expect(eventsOf(await taken.body).filter(isAnswer)).toEqual([]);
    },
  );
});

const PAY = { name: 'pay', callId: 'c1', arguments: { to: 'Ann' } };
const ASKS = `${YAML}
approval: { rules: [{ server: bank, tool: pay, policy: ask }] }
mcpServers: { bank: { type: stdio, command: none } }
`;

async function startAsking() {
  const model = new DirectedModel();
  const tools = new DirectedTools({ pay: {} });
  return { ...(await startDirected({ yaml: ASKS, adapters: { model, connector: tools } })), model, tools };
}

describe('a call that needs approval while its client is away', () => {
  verifies('mcp.resume', 'the question reaches the client that comes back to its session', async () => {
    await using setup = await startAsking();
    const { model, tools, port } = setup;
    const session = await resumableSession(port, {}, { elicitation: {} });
    const response = await openMcp(port, 'POST', session, chatCall(2, 'pay Ann'));
    const call = await model.call(0);
    const [priming] = await readAndCut(response, () => true);
    call.askFor(PAY);
    const again = await openMcp(port, 'GET', { ...session, 'Last-Event-ID': priming?.id ?? '' });
    const rest = new EventReader(again);
    const asked = await rest.that(({ message }) => message?.method === 'elicitation/create');
    const answer = { action: 'accept', content: { approve: true } };
    const reaction = { jsonrpc: '2.0', id: asked.message?.id, result: answer };
    const answered = rest.that(isAnswer);
    expect((await postMcp(port, reaction, session)).status).toBe(202);
    (await tools.call(0)).answer('paid');
    (await model.call(1)).answer('Ann is paid.');
    expect((await answered).message).toMatchObject({ result: { content: [{ text: 'Ann is paid.' }] } });
  });

  verifies(
    'mcp.resume',
    'another session of the client is told how to decide, as long as nobody has',
    async () => {
      await using setup = await startAsking();
      const { model, tools, port, service } = setup;
      const sessionId = 'payments';
      const session = await resumableSession(port);
      const response = await openMcp(port, 'POST', session, chatCall(2, 'pay Ann', { sessionId }));
      const call = await model.call(0);
      const [priming] = await readAndCut(response, () => true);
      call.askFor(PAY);
      const other = await resumableSession(port);
      const again = await openMcp(port, 'GET', { ...other, 'Last-Event-ID': priming?.id ?? '' });
      const rest = new EventReader(again);
      const notice = await rest.that(({ message }) => message?.method === 'notifications/message');
      expect(JSON.stringify(notice.message?.params)).toContain('The agent needs approval.');
      const answered = rest.that(isAnswer);
      const approved = await service.post(`/api/sessions/${sessionId}/approvals/${PAY.callId}`, {
        decision: 'approve',
      });
      expect(approved.status).toBe(200);
      (await tools.call(0)).answer('paid');
      (await model.call(1)).answer('Ann is paid.');
      expect((await answered).message).toMatchObject({ result: { content: [{ text: 'Ann is paid.' }] } });
      const late = await resumed(port, other, priming?.id ?? '');
      expect(eventsOf(await late.body).map(({ message }) => message?.method)).not.toContain(
        'notifications/message',
      );
    },
  );
});

describe('a call of a tool server whose stream breaks', () => {
  verifies('mcp.resume', 'progress and result are kept in memory, for its session alone', async () => {
    await using service = await startGateway({ tools: scriptableServer() });
    const { port } = service;
    const session = await resumableSession(port);
    const params = {
      name: 'slow',
      arguments: { ms: 400, progressEveryMs: 20 },
      _meta: { progressToken: 'p' },
    };
    const response = await openMcp(port, 'POST', session, {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params,
    });
    const before = await readAndCut(response, isFirstPiece);
    const id = before.at(-1)?.id ?? '';
    const after = eventsOf(await (await resumed(port, session, id)).body);
    const progress = [...before, ...after].flatMap(({ message }) => message?.params?.progress ?? []);
    expect(progress).toEqual(progress.map((_, index) => index + 1));
    expect(after.filter(isAnswer)).toMatchObject([
      { message: { id: 2, result: { content: [{ text: 'done' }] } } },
    ]);
    const other = await resumableSession(port);
    expect((await resumed(port, other, id)).status).toBe(400);
  });
});

describe('a call that its client has cancelled after it was told something', () => {
  const cancel = (requestId: number) => ({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId },
  });

  verifies('mcp.resume', 'who comes back for a cancelled turn is told its end', async () => {
    await using setup = await startDirected();
    const { model, port } = setup;
    const session = await resumableSession(port);
    const stream = new EventReader(await openMcp(port, 'POST', session, chatCall(2, 'tell me')));
    const call = await model.call(0);
    call.say('Once ');
    const { id } = await stream.that(isFirstPiece);
    expect((await postMcp(port, cancel(2), session)).status).toBe(202);
    await call.aborted;
    const rest = await resumed(port, session, id);
    expect(eventsOf(await rest.body).filter(isAnswer)).toMatchObject([
      { message: { id: 2, result: { isError: true } } },
    ]);
  });

  verifies('mcp.resume', 'nobody waits for the answer to a cancelled call of a tool server', async () => {
    await using service = await startGateway({ tools: scriptableServer() });
    const { port } = service;
    const session = await resumableSession(port);
    const slow = { name: 'slow', arguments: { ms: 60_000, progressEveryMs: 20 } };
    const params = { ...slow, _meta: { progressToken: 'p' } };
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params };
    const stream = new EventReader(await openMcp(port, 'POST', session, call));
    const { id } = await stream.that(isFirstPiece);
    expect((await postMcp(port, cancel(2), session)).status).toBe(202);
    const { status, body } = await resumed(port, session, id);
    expect([status, await body]).toEqual([400, expect.stringContaining('nothing is kept')]);
  });

  verifies(
    'mcp.resume',
    'the other calls of its batch have their answers, and no more is awaited',
    async () => {
      await using setup = await startDirected();
      const { model, port } = setup;
      const opened = await initializeMcp(port, '2025-03-26');
      const session = { ...opened, 'Mcp-Protocol-Version': '2025-03-26' };
      const batch = [chatCall(2, 'tell me', { sessionId: 'a' }), chatCall(3, 'wait', { sessionId: 'b' })];
      const stream = text(await openMcp(port, 'POST', session, batch));
      const [told, cancelled] = [await model.call(0), await model.call(1)];
      expect((await postMcp(port, cancel(3), session)).status).toBe(202);
      await cancelled.aborted;
      told.answer('Once upon a time.');
      expect(eventsOf(await stream).filter(isAnswer)).toMatchObject([{ message: { id: 2 } }]);
    },
  );
});

describe('a stream that cannot be resumed', () => {
  verifies('mcp.resume-access', async () => {
    await using setup = await startDirected();
    const { model, service, port } = setup;
    const session = await resumableSession(port);
    const answer = openMcp(port, 'POST', session, chatCall(2, 'hello', { sessionId: 'short' })).then(text);
    (await model.call(0)).answer('hi');
    const [priming] = eventsOf(await answer);
    const id = priming?.id ?? '';
    for (const garbage of ['garbage', 'a~b~c', '~~', `${id}~1`, 'x~0~999999999999999999']) {
      const { status, body } = await resumed(port, session, garbage);
      expect([garbage, status]).toEqual([garbage, 400]);
      expect(JSON.parse(await body)).toMatchObject({
        error: { message: expect.stringContaining('Last-Event-ID') },
      });
    }
    for (const unknown of [
      `${crypto.randomUUID()}~0~1`,
      id.replace(/.~/, (end) => (end === '_~' ? '-~' : '_~')),
    ]) {
      const { status, body } = await resumed(port, session, unknown);
      expect([unknown, status]).toEqual([unknown, 400]);
      expect(await body).toContain('Last-Event-ID: nothing is kept');
    }
    await service.fetch('/api/sessions/short', { method: 'DELETE' });
    const other = await resumableSession(port);
    const lost = eventsOf(await (await resumed(port, other, id)).body);
    expect(lost).toMatchObject([{ message: { id: 2, result: { isError: true } } }]);
    expect((await rawRequest(port, { method: 'DELETE', path: '/mcp', headers: session })).status).toBe(200);
    expect((await resumed(port, session, id)).status).toBe(404);
  });

  verifies(
    'mcp.resume-access',
    'somebody else is told that there is no such stream; to read the log needs its scope',
    async () => {
      const verifiers = [
        new KnownTokens({
          ada: identity('ada'),
          bob: identity('bob'),
          writer: identity('ada', { scopes: new Set(['sessions:write']) }),
        }),
      ];
      await using setup = await startDirected({ verifiers });
      const { model, port } = setup;
      const ada = await resumableSession(port, bearer('ada'));
      const bob = await resumableSession(port, bearer('bob'));
      const answer = openMcp(port, 'POST', ada, chatCall(2, 'my secret')).then(text);
      (await model.call(0)).answer('hush');
      const id = eventsOf(await answer)[0]?.id ?? '';
      expect((await resumed(port, bob, id)).status).toBe(400);
      expect((await resumed(port, { ...ada, ...bearer('bob') }, id)).status).toBe(404);
      const anew = await resumableSession(port, bearer('ada'));
      expect(toldText(eventsOf(await (await resumed(port, anew, id)).body))).toBe('hush');
      const refused = await resumed(port, { ...anew, ...bearer('writer') }, id);
      expect([refused.status, JSON.parse(await refused.body)]).toMatchObject([
        403,
        { error: { details: { scope: 'sessions:read' } } },
      ]);
    },
  );
});
