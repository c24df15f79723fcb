import { describe, expect } from 'vitest';
import { z } from 'zod';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { Adapters } from '../../../src/app/adapters/adapters.ts';
import { StorageFullError } from '../../../src/core/log/storage-full.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { eventually } from '../../support/project/eventually.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { errorOf, Timestamp } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { type ListeningService, ServiceProcess } from '../../support/service/service-process.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { listSessions, viewOf } from '../../support/sessions/session-api.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { GatedTools } from '../../support/tools/mcp/gated-tools.ts';
import { streamableServer } from '../../support/tools/mcp/http-servers.ts';
import { listServers, serverWith } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const OPTIONS = 'server: { drainTimeoutMs: 0 }\nlimits: { requestsPerMinute: false }\n';
const YAML = `${SCRIPTED}${OPTIONS}mcpServers: { tools: { type: stdio, command: none } }\n`;
const PAY = '/api/mcp/servers/tools/tools/pay/execute';
const LOOK = '/api/mcp/servers/tools/tools/look/execute';
const keyed = (key: string) => ({ 'Idempotency-Key': key });

/** A service whose tools the test answers. */
async function start(dataDir = ':memory:', yaml = YAML, more: Partial<Adapters> = {}) {
  const tools = new DirectedTools({ pay: {}, look: { repeatable: true } });
  const model = new DirectedModel();
  const adapters = { connector: tools, model, ...more };
  const service = await RunningService.start({ yaml, dataDir, adapters });
  await serverWith(service, 'tools', 'connected');
  return { tools, model, service };
}

const FULL = new StorageFullError('the disk is full');

/** The test says when its log takes nothing. */
async function startOnFullDisk(options = '') {
  const store = new WatchedStore(memoryEventStore());
  return { store, ...(await start(':memory:', `${YAML}${options}`, { store })) };
}

const Answer = z.looseObject({ timestamp: Timestamp });

/** What was answered, without the time of the answer. */
async function answerOf(asked: Promise<Response>): Promise<unknown> {
  const response = await asked;
  const { timestamp: _, ...body } = Answer.parse(await response.json());
  return { status: response.status, body };
}

describe('a tool execution with a key', () => {
  verifies(
    'idempotency.requests',
    'a tool runs once, also when three ask at once, whatever the order of its arguments',
    async () => {
      await using directory = await tempDirectory();
      const before = await start(directory.path);
      const { tools, service } = before;
      const posts = [1, 2, 3].map(() => service.post(PAY, { sum: 5, to: { a: 1, b: 2 } }, keyed('k')));
      (await tools.call(0)).answer('paid');
      const [first, ...others] = await Promise.all(posts.map(answerOf));
      expect(first).toMatchObject({
        status: 200,
        body: {
          success: true,
          data: { content: [{ type: 'text', text: 'paid' }] },
          execution: { toolName: 'pay', serverId: 'tools', duration: expect.any(Number) },
        },
      });
      expect(others).toEqual([first, first]);
      expect(await answerOf(service.post(PAY, { to: { b: 2, a: 1 }, sum: 5 }, keyed('k')))).toEqual(first);
      await service.close();

      const after = await start(directory.path);
      await using _ = after.service;
      expect(await answerOf(after.service.post(PAY, { sum: 5, to: { a: 1, b: 2 } }, keyed('k')))).toEqual(
        first,
      );
      const other = await errorOf(await after.service.post(PAY, { sum: 6 }, keyed('k')), 422);
      expect(other).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED', details: { key: 'k' } });
      expect([tools.calls.length, after.tools.calls.length]).toEqual([1, 0]);
      expect(await listSessions(after.service)).toEqual([]);
    },
  );

  verifies(
    'idempotency.requests',
    'a tool that failed is not tried again, and at another URL the key is another one',
    async () => {
      const { tools, service } = await start();
      await using _ = service;
      const failing = service.post(PAY, {}, keyed('k'));
      (await tools.call(0)).settle({ status: 'failed', reason: 'no money' });
      const error = await errorOf(await failing, 500);
      expect(error).toMatchObject({ code: 'TOOL_EXECUTION_FAILED', details: { reason: 'no money' } });
      expect(await errorOf(await service.post(PAY, {}, keyed('k')), 500)).toEqual(error);
      expect(tools.calls).toHaveLength(1);

      const elsewhere = service.post(LOOK, {}, keyed('k'));
      (await tools.call(1)).answer('seen');
      expect((await elsewhere).status).toBe(200);
    },
  );

  verifies('idempotency.requests', 'a refusal leaves the key free', async () => {
    const { tools, service } = await start();
    await using _ = service;
    await errorOf(await service.post('/api/mcp/servers/no/tools/pay/execute', {}, keyed('k')), 404);
    await errorOf(await service.post('/api/mcp/servers/tools/tools/no/execute', {}, keyed('k')), 404);
    await errorOf(await service.post(PAY, [], keyed('k')), 400);
    await errorOf(await service.post('/api/sessions/none/fork', {}, keyed('k')), 404);
    await errorOf(await service.post('/api/mcp/servers/no/reconnect', {}, keyed('k')), 404);
    const name = { name: 'no', config: { type: 'stdio', command: 'none' } };
    expect((await service.post('/api/connect-server', name)).status).toBe(200);
    expect((await service.post('/api/mcp/servers/no/reconnect', {}, keyed('k'))).status).toBe(200);
    const paid = service.post('/api/mcp/servers/no/tools/pay/execute', { sum: 5 }, keyed('k'));
    (await tools.call(0)).answer('paid');
    expect((await paid).status).toBe(200);
  });
});

describe('other requests with a key', () => {
  verifies('idempotency.requests', 'a fork makes one session', async () => {
    await using directory = await tempDirectory();
    const before = await start(directory.path);
    await before.service.post('/api/message', { message: 'hi' });
    (await before.model.call(0)).answer('hello');
    const fork = (service: RunningService, body = {}) =>
      service.post('/api/sessions/default/fork', body, keyed('k'));
    const forked = await answerOf(fork(before.service));
    expect(forked).toMatchObject({ status: 200, body: { status: 'forked', from: 'default' } });
    expect(await answerOf(fork(before.service))).toEqual(forked);
    await before.service.close();

    const { service } = await start(directory.path);
    await using _ = service;
    expect(await answerOf(fork(service))).toEqual(forked);
    await errorOf(await fork(service, { at: 1 }), 422);
    expect((await listSessions(service)).map(({ sessionId }) => sessionId)).toEqual([
      'default',
      expect.stringMatching(/^fork-/),
    ]);
  });

  verifies('idempotency.requests', 'a server is connected once, and reconnected once', async () => {
    await using directory = await tempDirectory();
    const body = { name: 'more', config: { type: 'stdio', command: 'none' } };
    const connect = (service: RunningService, more = {}) =>
      service.post('/api/connect-server', { ...body, ...more }, keyed('k'));
    const reconnect = (service: RunningService) =>
      service.post('/api/mcp/servers/more/reconnect', {}, keyed('k'));
    const before = await start(directory.path);
    const both = await Promise.all([connect(before.service), connect(before.service)].map(answerOf));
    expect(both[0]).toMatchObject({ status: 200, body: { status: 'connected', name: 'more' } });
    expect(both[1]).toEqual(both[0]);
    const reconnected = await answerOf(reconnect(before.service));
    expect(reconnected).toMatchObject({ status: 200, body: { status: 'connected' } });
    await before.service.close();

    const { service } = await start(directory.path);
    await using _ = service;
    expect(await answerOf(connect(service))).toEqual(both[0]);
    await errorOf(await connect(service, { name: 'other' }), 422);
    await service.fetch('/api/mcp/servers/more', { method: 'DELETE' });
    expect(await answerOf(reconnect(service))).toEqual(reconnected);
    // It was answered, not done.
    expect(await listServers(service)).toMatchObject([
      { name: 'tools', status: 'connected' },
      { name: 'more', status: 'disconnected' },
    ]);
  });

  verifies('idempotency.requests', 'a cancel cancels one turn', async () => {
    const { model, service } = await start();
    await using _ = service;
    const cancel = () => service.post('/api/sessions/default/cancel', {}, keyed('k'));
    await service.post('/api/message', { message: 'first' });
    await model.call(0);
    expect(await answerOf(cancel())).toMatchObject({ body: { status: 'cancelled' } });
    await service.post('/api/message', { message: 'second' });
    const second = await model.callFor('second');
    expect(await answerOf(cancel())).toMatchObject({ body: { status: 'cancelled' } });
    expect(second.signal.aborted).toBe(false);
    expect((await viewOf(service, 'default')).turns.cancelled).toBe(1);
  });

  verifies('idempotency.requests', 'an approval is given once', async () => {
    const { model, tools, service } = await start(':memory:', `${YAML}approval: { default: ask }\n`);
    await using _ = service;
    await service.post('/api/message', { message: 'pay' });
    (await model.call(0)).askFor({ name: 'pay', callId: 'c1' });
    await eventually(
      () => viewOf(service, 'default'),
      ({ approvals }) => approvals.length > 0,
    );
    const answer = (decision: string) =>
      service.post('/api/sessions/default/approvals/c1', { decision }, keyed('k'));
    expect(await answerOf(answer('approve'))).toMatchObject({ status: 200, body: { status: 'approved' } });
    // Without the key, nothing would wait for it any more.
    expect(await answerOf(answer('approve'))).toMatchObject({ status: 200, body: { status: 'approved' } });
    await errorOf(await answer('deny'), 422);
    await tools.call(0);
    expect(tools.calls).toHaveLength(1);
  });

  verifies(
    'idempotency.requests',
    'a cancel whose answer could not be recorded does not cancel the next turn',
    async () => {
      const { model, service, store } = await startOnFullDisk();
      await using _ = service;
      const cancel = () => service.post('/api/sessions/default/cancel', {}, keyed('k'));
      await service.post('/api/message', { message: 'first' });
      await model.call(0);
      await service.post('/api/message', { message: 'second' });
      store.refuseNext('request.answered', FULL);
      await errorOf(await cancel(), 503);
      const second = await model.callFor('second');
      expect(await answerOf(cancel())).toMatchObject({ status: 200, body: { status: 'cancelled' } });
      expect(second.signal.aborted).toBe(false);
      expect((await viewOf(service, 'default')).turns.cancelled).toBe(1);
    },
  );

  verifies('idempotency.requests', 'an approval whose answer could not be recorded counts', async () => {
    const { model, tools, service, store } = await startOnFullDisk('approval: { default: ask }\n');
    await using _ = service;
    await service.post('/api/message', { message: 'pay' });
    (await model.call(0)).askFor({ name: 'pay', callId: 'c1' });
    await eventually(
      () => viewOf(service, 'default'),
      ({ approvals }) => approvals.length > 0,
    );
    const approve = () =>
      service.post('/api/sessions/default/approvals/c1', { decision: 'approve' }, keyed('k'));
    store.refuseNext('request.answered', FULL);
    await errorOf(await approve(), 503);
    expect(await answerOf(approve())).toMatchObject({ status: 200, body: { status: 'approved' } });
    await tools.call(0);
    expect(tools.calls).toHaveLength(1);
  });

  verifies('idempotency.invalid', 'on every endpoint that takes one', async () => {
    const { service } = await start();
    await using _ = service;
    const server = { name: 'more', config: { type: 'stdio', command: 'none' } };
    for (const path of [
      '/api/connect-server',
      '/api/mcp/servers/tools/reconnect',
      PAY,
      '/api/sessions/default/fork',
      '/api/sessions/default/cancel',
      '/api/sessions/default/approvals/c1',
    ]) {
      const body = { ...server, decision: 'approve' };
      const error = await errorOf(await service.post(path, body, keyed('a b')), 400);
      expect(error).toMatchObject({ code: 'INVALID_REQUEST', details: { field: 'Idempotency-Key' } });
    }
  });
});

describe.concurrent('a service that is killed while a request with a key runs', () => {
  async function startGated() {
    const tools = new GatedTools({ pay: { readOnly: false }, look: { readOnly: true } });
    const toolServer = await streamableServer({ tools: tools.server });
    const servers = JSON.stringify({ tools: { type: 'http', baseUrl: toolServer.url } });
    const folder = await agentFolder(`${SCRIPTED}${OPTIONS}mcpServers: ${servers}\n`);
    const launch = async (): Promise<ListeningService> => {
      const service = await ServiceProcess.listening(['--agent', 'agent.yml', '--data-dir', 'data'], {
        cwd: folder.path,
      });
      await serverWith(service, 'tools', 'connected');
      return service;
    };
    const dispose = async () => {
      await toolServer[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    };
    return { tools, launch, [Symbol.asyncDispose]: dispose };
  }

  verifies('idempotency.unknown', async () => {
    await using setup = await startGated();
    const { tools, launch } = setup;
    await using killed = await launch();
    const cutOff = [PAY, LOOK].map((path) => killed.post(path, {}, keyed('k')));
    await Promise.all([tools.call('pay'), tools.call('look')]);
    killed.process.kill('SIGKILL');
    for (const outcome of await Promise.allSettled(cutOff)) expect(outcome.status).toBe('rejected');

    await using service = await launch();
    expect(await errorOf(await service.post(PAY, {}, keyed('k')), 409)).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      details: { key: 'k', suggestion: expect.any(String) },
    });
    const looking = service.post(LOOK, {}, keyed('k'));
    (await tools.call('look', 1)).answer('seen');
    expect(await answerOf(looking)).toMatchObject({ body: { data: { content: [{ text: 'seen' }] } } });
    expect(await answerOf(service.post(LOOK, {}, keyed('k')))).toMatchObject({ status: 200 });
    expect(tools.calls.map(({ name }) => name).sort()).toEqual(['look', 'look', 'pay']);

    const again = service.post(PAY, {}, keyed('new'));
    (await tools.call('pay', 1)).answer('paid');
    expect((await again).status).toBe(200);
  });
});
