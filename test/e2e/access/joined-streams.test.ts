import { describe, expect } from 'vitest';
import { z } from 'zod';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { INITIALIZE, postMcp } from '../../support/tools/mcp-http.ts';
import { verifies } from '../requirements.ts';

const people = () => new KnownTokens({ ada: identity('ada', { roles: ['operator'] }) });

const Sent = z.object({ task: z.object({ id: z.string(), contextId: z.string() }) });
const Response = z.object({ id: z.string() });

const A2A = { 'A2A-Version': '1.0' };

/** A service for ada, whose turns do not come to an end. */
async function startService() {
  const model = new DirectedModel();
  const auth = { limits: { principal: { connections: 2 } } };
  const service = await RunningService.start({
    yaml: SCRIPTED,
    adapters: { model },
    verifiers: [people()],
    auth,
  });
  const left = new AbortController();
  const ask = (path: string, body?: object, signal = left.signal) =>
    service.fetch(path, {
      signal,
      headers: { ...bearer('ada'), ...A2A, 'Content-Type': 'application/json', 'Idempotency-Key': path },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
  /** @param turns that have begun. */
  const stop = async (turns: number) => {
    left.abort();
    for (let index = 0; index < turns; index += 1) (await model.call(index)).answer('done');
    await service.close();
  };
  return { ask, stop };
}

/** Turns that have not come to an end, and how each interface joins one. */
async function start() {
  const { ask, stop } = await startService();
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const sent = await ask('/a2a/message:send', { message, configuration: { returnImmediately: true } });
  const { task } = Sent.parse(await sent.json());
  const background = { model: 'default', input: 'hello', background: true };
  const { id } = Response.parse(await (await ask('/v1/responses', background)).json());
  const subscribing = { jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id: task.id } };
  const run = { threadId: task.contextId, runId: 'r', messages: [], tools: [], context: [], state: {} };
  const joins: Readonly<Record<string, (signal?: AbortSignal) => Promise<globalThis.Response>>> = {
    'A2A over REST': (signal) => ask(`/a2a/tasks/${task.id}:subscribe`, undefined, signal),
    'A2A over JSON-RPC': (signal) => ask('/a2a', subscribing, signal),
    'the Responses API': (signal) => ask(`/v1/responses/${id}?stream=true`, undefined, signal),
    'AG-UI': (signal) => ask('/ag-ui', run, signal),
  };
  return { joins, [Symbol.asyncDispose]: () => stop(2) };
}

describe('a stream that joins what runs', () => {
  for (const name of ['A2A over REST', 'A2A over JSON-RPC', 'the Responses API', 'AG-UI'])
    verifies('client-limits.connections', `over ${name}: it counts as long as it is open`, async () => {
      await using setup = await start();
      const join = setup.joins[name] ?? (() => expect.unreachable(name));
      const leaves = new AbortController();
      const opened = [await join(leaves.signal), await join()];
      expect(opened.map(({ status }) => status)).toEqual([200, 200]);
      const refused = await join();
      expect([refused.status, await refused.text()]).toEqual([
        429,
        expect.stringContaining('2 open connections per principal'),
      ]);
      leaves.abort();
      await expect.poll(async () => (await join()).status).toBe(200);
    });
});

const user = { role: 'user', content: 'hello' };
/** A request with a stream at each interface, by its path. */
const STREAMED: Readonly<Record<string, object>> = {
  '/a2a/message:stream': {
    message: { messageId: 'm', contextId: 'c', role: 'ROLE_USER', parts: [{ text: 'hello' }] },
  },
  '/v1/responses': { model: 'default', input: 'hello', stream: true },
  '/v1/chat/completions': { model: 'default', messages: [user], stream: true },
  '/ag-ui': {
    threadId: 't',
    runId: 'r',
    messages: [{ id: 'u', ...user }],
    tools: [],
    context: [],
    state: {},
  },
};

describe('a request that is repeated while its turn goes on', () => {
  for (const [path, body] of Object.entries(STREAMED))
    verifies(
      'client-limits.connections',
      `at ${path}: its stream counts, and the first one does not`,
      async () => {
        const { ask, stop } = await startService();
        await using _ = { [Symbol.asyncDispose]: () => stop(1) };
        const statuses: number[] = [];
        for (let sent = 0; sent < 4; sent += 1) statuses.push((await ask(path, body)).status);
        expect(statuses).toEqual([200, 200, 200, 429]);
      },
    );
});

describe('a batch at /mcp', () => {
  verifies('client-limits.requests', 'it counts as often as it has messages', async () => {
    const auth = { limits: { principal: { requestsPerMinute: 20 } } };
    await using service = await RunningService.start({ yaml: SCRIPTED, verifiers: [people()], auth });
    const params = { ...INITIALIZE.params, protocolVersion: '2025-03-26' };
    const { headers } = await postMcp(service.port, { ...INITIALIZE, params }, bearer('ada'));
    const session = { ...bearer('ada'), 'Mcp-Session-Id': String(headers['mcp-session-id']) };
    const batch = (size: number) =>
      Array.from({ length: size }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
    const answer = await postMcp(service.port, batch(15), session);
    expect([answer.status, answer.headers['x-ratelimit-remaining']]).toEqual([200, '4']);
    expect((await postMcp(service.port, batch(5), session)).status).toBe(429);
  });
});
