import { describe, expect } from 'vitest';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { TextSocket } from '../../support/cluster/text-socket.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { INITIALIZE } from '../../support/tools/mcp-http.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 0 },
});
const PLAN = 'acme/test:ada/plan';
const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw client', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface Door {
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body: object;
  /** Whether the answer has begun before its client loses the right to it. */
  readonly isStream?: true;
}

const chat = { model: 'default', metadata: { session_id: PLAN }, messages: [{ role: 'user', content: 'x' }] };
const response = { model: 'default', conversation: PLAN, input: 'x' };
const a2a = (messageId: string) => ({
  message: { messageId, role: 'ROLE_USER', parts: [{ text: 'x' }], contextId: PLAN },
});
const mcp = (_meta: object) => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name: 'chat_with_agent', arguments: { message: 'x', sessionId: PLAN }, _meta },
});

/** The ways to say something in a session and wait for the reply. */
const doors = (mcpSession: string): Record<string, Door> => ({
  'message-sync': { path: '/api/message-sync', body: { message: 'x', sessionId: PLAN } },
  'chat completions': { path: '/v1/chat/completions', body: chat },
  'chat completions, streamed': {
    path: '/v1/chat/completions',
    isStream: true,
    body: { ...chat, stream: true },
  },
  responses: { path: '/v1/responses', body: response },
  'responses, streamed': { path: '/v1/responses', isStream: true, body: { ...response, stream: true } },
  'A2A message:send': { path: '/a2a/message:send', headers: { 'A2A-Version': '1.0' }, body: a2a('m1') },
  'A2A SendMessage': {
    path: '/a2a',
    headers: { 'A2A-Version': '1.0' },
    body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: a2a('m2') },
  },
  'AG-UI': {
    path: '/ag-ui',
    isStream: true,
    body: { threadId: PLAN, runId: 'r', messages: [{ id: 'u', role: 'user', content: 'x' }] },
  },
  'MCP with a session': {
    path: '/mcp',
    headers: { 'Mcp-Session-Id': mcpSession },
    isStream: true,
    body: mcp({ progressToken: 1 }),
  },
  'MCP without one': {
    path: '/mcp',
    isStream: true,
    headers: {
      'Mcp-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'chat_with_agent',
    },
    body: mcp({ ...MODERN, progressToken: 2 }),
  },
});

/** Bob waits at every door behind a turn of Ada's session, which is shared with him. */
async function start() {
  const model = new DirectedModel();
  const people = new KnownTokens({ ada: identity('ada'), bob: identity('bob') });
  const service = await RunningService.start({ yaml: YAML, adapters: { model }, verifiers: [people] });
  const ask = (who: string, method: string, path: string, { body, headers }: Partial<Door> = {}) =>
    service.fetch(path, {
      method,
      headers: {
        ...bearer(who),
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const read = async <T>(answer: Promise<Response>) => (await (await answer).json()) as T;
  const ticketOf = async (who: string) =>
    (await read<{ ticket: string }>(ask(who, 'POST', '/api/tickets'))).ticket;
  await ask('ada', 'POST', '/api/message', { body: { message: 'first', sessionId: 'plan' } });
  await model.call(0);
  const grants = '/api/sessions/plan/grants';
  const body = { principal: 'test:bob', access: 'talk' };
  const { grant } = await read<{ grant: { grantId: string } }>(ask('ada', 'POST', grants, { body }));
  const { headers } = await ask('bob', 'POST', '/mcp', { body: INITIALIZE });
  const socketUrl = `ws://127.0.0.1:${service.port}`;
  const socket = new WebSocket(`${socketUrl}/v1/responses?ticket=${await ticketOf('bob')}`);
  const socketClosed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.addEventListener('close', resolve),
  );
  socket.addEventListener('open', () =>
    socket.send(JSON.stringify({ type: 'response.create', ...response })),
  );
  const statecharts = await service.fetch(`/api/statecharts?session=${encodeURIComponent(PLAN)}`, {
    headers: { ...bearer('bob'), Accept: 'text/event-stream' },
  });
  const opened = Object.entries(doors(String(headers.get('mcp-session-id'))));
  const answers = opened.map(async ([name, { isStream, ...door }]) => {
    const answer = await ask('bob', 'POST', door.path, door);
    return { name, isStream, status: answer.status, text: await answer.text() };
  });
  using watching = await TextSocket.open(
    `${socketUrl}/?session=plan&after=0&ticket=${await ticketOf('ada')}`,
  );
  const said = opened.length + 2;
  await watching.until(
    'the messages of all doors',
    (frames) => frames.filter(({ event }) => event === 'message').length === said,
  );
  return {
    service,
    socketClosed,
    answers,
    statecharts,
    model,
    unshare: () => ask('ada', 'DELETE', `${grants}/${grant.grantId}`),
    [Symbol.asyncDispose]: () => service.close(),
  };
}

type Answers = Awaited<ReturnType<typeof start>>['answers'];

async function expectRefused(answers: Answers, status: number, told: string): Promise<void> {
  for (const { name, isStream, ...answer } of await Promise.all(answers)) {
    // JSON-RPC tells in its envelope that something is not there.
    const hasBegun = isStream || (name === 'A2A SendMessage' && status === 404);
    const text = expect.stringContaining(told);
    expect({ name, ...answer }).toEqual({ name, status: hasBegun ? 200 : status, text });
  }
}

describe('answers that somebody waits for', () => {
  verifies('grants.revoked', 'at every door: answers with 404, streams with the same error', async () => {
    await using setup = await start();
    expect((await setup.unshare()).status).toBe(200);
    await expectRefused(setup.answers, 404, `There is no session ${PLAN}`);
    expect(await setup.statecharts.text()).toContain('SESSION_NOT_FOUND');
    const { code, reason } = await setup.socketClosed;
    expect({ code, reason }).toEqual({ code: 4404, reason: 'the session is not shared any more' });
    // What was said goes on.
    (await setup.model.call(0)).answer('done');
    await setup.model.call(1);
  });

  verifies('auth.revoked', 'and so are the answers of all doors that its client waits for', async () => {
    await using setup = await start();
    setup.service.access?.revoke('credential-of-bob');
    await expectRefused(setup.answers, 401, 'The credential was revoked');
    expect(await setup.statecharts.text()).toContain('UNAUTHORIZED');
    const { code, reason } = await setup.socketClosed;
    expect({ code, reason }).toEqual({ code: 4401, reason: 'revoked' });
  });

  verifies('auth.revoked', 'and so is the answer of a compaction', async () => {
    const model = new DirectedModel();
    const verifiers = [new KnownTokens({ bob: identity('bob') })];
    await using service = await RunningService.start({ yaml: YAML, adapters: { model }, verifiers });
    const answer = service.fetch('/v1/responses/compact', {
      method: 'POST',
      headers: { ...bearer('bob'), 'Content-Type': 'application/json' },
      body: JSON.stringify({ model: 'default', input: 'x' }),
    });
    await model.call(0);
    service.access?.revoke('credential-of-bob');
    expect((await answer).status).toBe(401);
  });
});
