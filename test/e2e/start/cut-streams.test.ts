import { describe, expect } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { startAgUi } from '../../support/ag-ui/ag-ui-rig.ts';
import { keptOpen } from '../../support/log/crashing-store.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { GatedTools } from '../../support/tools/mcp/gated-tools.ts';
import { streamableServer } from '../../support/tools/mcp/http-servers.ts';
import { serverWith } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const STOPPING = /^The service is stopping, and this answer is not complete\.$/;

interface Asked {
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body: object;
  /** What the last event says. */
  readonly end: object;
}

const a2aMessage = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'talk' }] };
const openAiEnd = { error: { message: expect.stringMatching(STOPPING) } };
const a2aHeaders = { 'A2A-Version': '1.0' };

const STREAMS: Record<string, Asked> = {
  'chat completions': {
    path: '/v1/chat/completions',
    body: { model: 'default', stream: true, messages: [{ role: 'user', content: 'talk' }] },
    end: openAiEnd,
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'default', stream: true, input: 'talk' },
    end: { type: 'error', ...openAiEnd },
  },
  'A2A over HTTP': {
    path: '/a2a/message:stream',
    headers: a2aHeaders,
    body: { message: a2aMessage },
    end: openAiEnd,
  },
  'A2A over JSON-RPC': {
    path: '/a2a',
    headers: a2aHeaders,
    body: { jsonrpc: '2.0', id: 7, method: 'SendStreamingMessage', params: { message: a2aMessage } },
    end: { id: 7, ...openAiEnd },
  },
  'AG-UI': {
    path: '/ag-ui',
    body: {
      threadId: 't',
      runId: 'r',
      state: {},
      tools: [],
      context: [],
      forwardedProps: {},
      messages: [{ id: 'm', role: 'user', content: 'talk' }],
    },
    end: { type: 'RUN_ERROR', message: expect.stringMatching(STOPPING) },
  },
};

/** What a request without an answer gets. */
const UNANSWERED = [
  ['whose outcome it cannot know', {}, 'OUTCOME_UNKNOWN'],
  ['that can be repeated with its key', { 'Idempotency-Key': 'k1' }, 'SERVICE_UNAVAILABLE'],
] as const;

/** In a context, its id says whether a message was sent before. */
const A2A_MESSAGES: Record<string, { message?: object; path?: string; code: string }> = {
  'without a context': { code: 'OUTCOME_UNKNOWN' },
  'in a context': { message: { contextId: 'c' }, code: 'SERVICE_UNAVAILABLE' },
  'in a context, over JSON-RPC': { message: { contextId: 'c' }, path: '/a2a', code: 'SERVICE_UNAVAILABLE' },
};

/** The data of the events of a stream that has ended. */
function eventsOf(text: string): unknown[] {
  const lines = text.split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)));
}

describe('a service that stops in the middle of a reply', () => {
  for (const [name, { path, headers, body, end }] of Object.entries(STREAMS))
    verifies('cli.stop-streams', name, async () => {
      await using rig = await startAgUi();
      const answering = rig.service.fetch(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream', ...headers },
        body: JSON.stringify(body),
      });
      const call = await rig.model.call(0);
      call.say('One ');
      const answer = await answering;
      expect(answer.status).toBe(200);
      await rig.service.close();
      expect(eventsOf(await answer.text()).at(-1)).toMatchObject(end);
    });

  verifies('cli.stop-streams', 'a tool call', async () => {
    await using rig = await startAgUi();
    const answering = rig.service.fetch('/api/mcp/servers/bank/tools/look/execute', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' },
      body: '{}',
    });
    await rig.tools.call(0);
    const answer = await answering;
    await rig.service.close();
    expect(eventsOf(await answer.text()).at(-1)).toMatchObject(openAiEnd);
  });

  for (const [name, headers, code] of UNANSWERED)
    verifies('cli.stop-answers', name, async () => {
      await using rig = await startAgUi();
      const answering = rig.service.post('/api/message-sync', { message: 'talk' }, headers);
      (await rig.model.call(0)).say('One ');
      await rig.service.close();
      expect(await (await answering).json()).toMatchObject({ error: { code } });
    });

  for (const [name, { message, path = '/a2a/message:send', code }] of Object.entries(A2A_MESSAGES))
    verifies('cli.stop-answers', `a message of A2A ${name}`, async () => {
      await using rig = await startAgUi();
      const params = { message: { ...a2aMessage, ...message } };
      const call = { jsonrpc: '2.0', id: 7, method: 'SendMessage', params };
      const answering = rig.service.post(path, path === '/a2a' ? call : params, a2aHeaders);
      (await rig.model.call(0)).say('One ');
      await rig.service.close();
      expect(JSON.stringify(await (await answering).json())).toContain(`"code":"${code}"`);
    });

  for (const [name, headers, code] of UNANSWERED)
    verifies('cli.stop-answers', `a call of a tool ${name}`, async () => {
      const gated = new GatedTools({ pay: { readOnly: false } });
      await using bank = await streamableServer({ tools: gated.server });
      const servers = JSON.stringify({ bank: { type: 'http', baseUrl: bank.url } });
      await using service = await RunningService.start({ yaml: `${SCRIPTED}mcpServers: ${servers}` });
      await serverWith(service, 'bank', 'connected');
      const answering = service.post('/api/mcp/servers/bank/tools/pay/execute', {}, headers);
      await gated.call('pay');
      await service.close();
      expect(await (await answering).json()).toMatchObject({ error: { code } });
    });

  verifies('cli.stop-answers', 'that comes when the log is closed already', async () => {
    const store = memoryEventStore();
    await using rig = await startAgUi({ adapters: { store: keptOpen(store) } });
    const { service } = rig;
    // What goes on asking the log at a stop may come after it was closed.
    await store[Symbol.asyncDispose]();
    const fork = (headers: Record<string, string>) => service.post('/api/sessions/s/fork', {}, headers);
    const listed = await service.fetch('/api/sessions');
    expect(await listed.json()).toMatchObject({ error: { code: 'SERVICE_UNAVAILABLE' } });
    expect(await (await fork({})).json()).toMatchObject({ error: { code: 'OUTCOME_UNKNOWN' } });
    const keyed = await fork({ 'Idempotency-Key': 'k1' });
    expect(await keyed.json()).toMatchObject({ error: { code: 'SERVICE_UNAVAILABLE' } });
  });

  verifies(
    'cli.stop-streams',
    'the events of a session end without an error, because their client comes back',
    async () => {
      await using rig = await startAgUi();
      const answer = await rig.service.fetch('/api/sessions/s/events?after=0', {
        headers: { Accept: 'text/event-stream' },
      });
      await rig.service.close();
      expect(eventsOf(await answer.text())).toMatchObject([{ event: 'resumed' }]);
    },
  );
});
