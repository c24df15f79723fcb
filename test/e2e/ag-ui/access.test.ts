import { describe, expect } from 'vitest';
import { CreateKeyResponse } from '../../../src/wire/api-keys.ts';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { startAgUi } from '../../support/ag-ui/ag-ui-rig.ts';
import { recordedAgent } from '../../support/ag-ui/recorded-agent.ts';
import { parseEnvelope } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const saying = (name: string): string =>
  JSON.stringify({
    name,
    llm: { provider: 'scripted', model: 'offline', script: [{ when: '([^]*)', reply: `${name}: $1` }] },
    cors: { origins: ['https://page.example'] },
  });

describe('access to AG-UI', () => {
  verifies('ag-ui.access', async () => {
    await using service = await RunningService.start({
      agents: { support: saying('Support'), shop: saying('Shop') },
    });
    for (const [path, reply] of [
      ['/ag-ui', 'Support: hello'],
      ['/agents/shop/ag-ui', 'Shop: hello'],
    ] as const) {
      const { newMessages } = await recordedAgent(service, { path }).say('hello').run();
      expect(newMessages).toMatchObject([{ content: reply }]);
    }
  });

  verifies('ag-ui.access', 'of several clients', async () => {
    const scopes = new Set(['sessions:read', 'sessions:write'] as const);
    const verifiers = [
      new KnownTokens({ ada: identity('ada'), bob: identity('bob'), cleo: identity('cleo', { scopes }) }),
    ];
    await using rig = await startAgUi({ verifiers });
    const of = (name: string) => recordedAgent(rig.service, { headers: bearer(name) });
    const ada = of('ada').say('a secret');
    const running = ada.run({ runId: 'r1' });
    (await rig.model.call(0)).answer('Yes.');
    await running;
    // The same thread of somebody else is another one.
    const bob = of('bob');
    await bob.run({ runId: 'r1' });
    expect(bob.agent.messages).toEqual([]);
    const body = { threadId: 'acme/test:ada/thread-1', runId: 'r2', messages: [] };
    expect((await rig.service.post('/ag-ui', body, bearer('bob'))).status).toBe(404);
    expect((await rig.service.post('/ag-ui', body)).status).toBe(401);
    const cleo = of('cleo').say('pay');
    const paying = cleo.run();
    (await rig.model.call(1)).askFor({ name: 'pay', callId: 'c1' });
    await paying;
    const interruptId = cleo.agent.pendingInterrupts[0]?.id ?? '';
    const resume = [{ interruptId, status: 'resolved' as const, payload: { approved: true } }];
    await expect(cleo.run({ resume })).rejects.toMatchObject({
      status: 403,
      payload: { error: { code: 'FORBIDDEN', details: { scope: 'approvals:decide' } } },
    });
    expect(rig.tools.calls).toEqual([]);
  });

  verifies('ag-ui.access', 'of a key that is revoked during the run', async () => {
    await using rig = await startAgUi({ apiKeys: true });
    const { keyId, key } = CreateKeyResponse.parse(
      await (await rig.service.post('/api/keys', { name: 'page', roles: ['user'] })).json(),
    );
    const headers = { Authorization: `Bearer ${key}` };
    const ada = recordedAgent(rig.service, { headers }).say('hello');
    const running = ada.run();
    const call = await rig.model.call(0);
    call.say('Hi');
    await ada.event('TEXT_MESSAGE_CONTENT');
    await rig.service.fetch(`/api/keys/${keyId}`, { method: 'DELETE' });
    await running;
    expect(ada.last).toMatchObject({ type: 'RUN_ERROR', code: 'UNAUTHORIZED' });
  });

  verifies('ag-ui.access', 'of pages in browsers, and in web mode only', async () => {
    await using service = await RunningService.start({ yaml: saying('Page') });
    const headers = { Origin: 'https://page.example', 'Content-Type': 'application/json' };
    const preflight = await service.fetch('/ag-ui', { method: 'OPTIONS', headers });
    expect(preflight.headers.get('Access-Control-Allow-Origin')).toBe('https://page.example');
    expect(preflight.headers.get('Access-Control-Allow-Methods')).toContain('POST');
    const body = JSON.stringify({
      threadId: 't',
      runId: 'r',
      messages: [{ id: 'u', role: 'user', content: 'hi' }],
    });
    const answer = await service.fetch('/ag-ui', { method: 'POST', headers, body });
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('https://page.example');
    expect(answer.headers.get('Content-Type')).toBe('text/event-stream');
    expect(await answer.text()).toContain('"delta":" hi"');
    const foreign = { ...headers, Origin: 'https://elsewhere.example' };
    expect((await service.fetch('/ag-ui', { method: 'POST', headers: foreign, body })).status).toBe(403);
    await using mcp = await RunningService.start({ mode: 'mcp' });
    expect((await mcp.post('/ag-ui', {})).status).toBe(400);
  });

  verifies('ag-ui.refused', async () => {
    await using rig = await startAgUi();
    const message = { id: 'u', role: 'user', content: 'hi' };
    const input = { threadId: 't', runId: 'r', messages: [message] };
    const wrong: readonly (readonly [object, object])[] = [
      [{ threadId: undefined }, { code: 'MISSING_FIELD', details: { field: 'threadId' } }],
      [{ threadId: 'a b' }, { code: 'INVALID_REQUEST', details: { field: 'threadId' } }],
      [{ runId: '' }, { code: 'INVALID_REQUEST', details: { field: 'runId' } }],
      [{ messages: undefined }, { code: 'MISSING_FIELD', details: { field: 'messages' } }],
      [{ messages: [{ ...message, role: 'robot' }] }, { details: { field: 'messages.0.role' } }],
      [{ messages: [{ ...message, id: undefined }] }, { details: { field: 'messages.0.id' } }],
      [{ messages: [{ ...message, role: 'assistant' }] }, { details: { field: 'messages.0' } }],
      [
        { messages: [{ id: 'x', role: 'tool', toolCallId: 'c1', content: '' }] },
        { details: { field: 'messages.0.toolCallId' } },
      ],
      [{ tools: [{ name: 'a b', description: '' }] }, { details: { field: 'tools.0.name' } }],
      [
        { tools: [0, 1].map(() => ({ name: 'twice', description: '' })) },
        { details: { field: 'tools.1', issue: 'another tool is called twice, too' } },
      ],
      [{ resume: [{ interruptId: 'c1', status: 'maybe' }] }, { details: { field: 'resume.0.status' } }],
      [
        { resume: [{ interruptId: 'c1', status: 'resolved', payload: { approved: true } }] },
        { code: 'APPROVAL_NOT_FOUND' },
      ],
      [{ resume: [{ interruptId: 'c1', status: 'cancelled' }] }, { details: { field: 'messages.0' } }],
    ];
    for (const [change, error] of wrong) {
      const answer = await rig.service.post('/ag-ui', { ...input, ...change });
      expect([change, answer.status >= 400, parseEnvelope(await answer.text())]).toMatchObject([
        change,
        true,
        error,
      ]);
    }
    expect((await rig.service.fetch('/ag-ui')).status).toBe(400);
    expect((await rig.service.post('/ag-ui', [])).status).toBe(400);
    const running = recordedAgent(rig.service, { threadId: 't' }).say('hi').run();
    (await rig.model.call(0)).answer('Hi.');
    await running;
    const stray = [{ id: 'x', role: 'tool', toolCallId: 'c1', content: '' }];
    const answer = await rig.service.post('/ag-ui', { ...input, messages: stray });
    expect(parseEnvelope(await answer.text())).toMatchObject({
      code: 'CALL_NOT_FOUND',
      details: { field: 'messages', callId: 'c1' },
    });
  });
});
