import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { CreateKeyResponse } from '../../../src/wire/api-keys.ts';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { parseEnvelope } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { openResponse } from '../../support/sockets/raw-http.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { INITIALIZE, openMcp, postMcp } from '../../support/tools/mcp-http.ts';
import { serverWith, toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const people = () =>
  new KnownTokens({
    ada: identity('ada', { roles: ['operator'] }),
    bob: identity('bob', { roles: ['operator'] }),
  });

const call = { name: 'chat_with_agent', arguments: { message: 'hello' } };
const chat = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: call };
const ping = { jsonrpc: '2.0', id: 8, method: 'ping' };

async function mcpSession(port: number, name: string): Promise<Record<string, string>> {
  const { headers } = await postMcp(port, INITIALIZE, bearer(name));
  return { ...bearer(name), 'Mcp-Session-Id': String(headers['mcp-session-id']) };
}

/** The service as somebody with a token asks it. */
function as(service: RunningService, name: string): Pick<RunningService, 'fetch' | 'post'> {
  return {
    fetch: (path, init = {}) =>
      service.fetch(path, { ...init, headers: { ...init.headers, ...bearer(name) } }),
    post: (path, body) => service.post(path, body, bearer(name)),
  };
}

describe('a stream that is open when its credential is revoked', () => {
  verifies('auth.revoked', 'at /mcp: calls are answered with an error, and streams end', async () => {
    const model = new DirectedModel();
    const options = { yaml: SCRIPTED, adapters: { model }, verifiers: [people()] };
    await using service = await RunningService.start(options);
    const [adas, bobs] = [await mcpSession(service.port, 'ada'), await mcpSession(service.port, 'bob')];
    const listening = await openMcp(service.port, 'GET', adas);
    const asked = await openMcp(service.port, 'POST', adas, chat);
    const reply = await model.call(0);
    const others = await openMcp(service.port, 'GET', bobs);
    service.access?.revoke('credential-of-ada');
    expect(await text(listening)).not.toContain('data:');
    const [, told = ''] = /data: (.+)/.exec(await text(asked)) ?? [];
    expect(JSON.parse(told)).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32000, message: 'The credential was revoked.', data: { reason: 'revoked' } },
    });
    reply.answer('too late');
    expect((await postMcp(service.port, ping, bobs)).status).toBe(200);
    others.destroy();
  });

  for (const [path, asked, name] of [
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hello' }] }, ''],
    ['/v1/responses', { input: 'hello' }, 'event: error\n'],
  ] as const)
    verifies('auth.revoked', `at ${path}: it ends with an error in OpenAI's form`, async () => {
      const model = new DirectedModel();
      const options = { yaml: SCRIPTED, adapters: { model }, verifiers: [people()] };
      await using service = await RunningService.start(options);
      const body = { model: 'default', stream: true, ...asked };
      const streamed = as(service, 'ada').post(path, body);
      await model.call(0);
      const stream = await streamed;
      service.access?.revoke('credential-of-ada');
      const last = (await stream.text()).trim().split('\n\n').at(-1) ?? '';
      expect(last.startsWith(`${name}data: `)).toBe(true);
      expect(JSON.parse(last.slice(last.indexOf('{')))).toMatchObject({
        error: {
          message: 'The credential was revoked.',
          type: 'authentication_error',
          code: 'invalid_api_key',
          details: { reason: 'revoked' },
        },
      });
    });

  verifies('auth.revoked', 'its MCP session is refused from then on', async () => {
    await using service = await RunningService.start({ yaml: SCRIPTED, apiKeys: true });
    const created = await service.post('/api/keys', { name: 'ci', roles: ['user'] });
    const { key, keyId } = CreateKeyResponse.parse(await created.json());
    const token = { Authorization: `Bearer ${key}` };
    const { headers } = await postMcp(service.port, INITIALIZE, token);
    const session = { ...token, 'Mcp-Session-Id': String(headers['mcp-session-id']) };
    expect((await postMcp(service.port, ping, session)).status).toBe(200);
    expect((await service.fetch(`/api/keys/${keyId}`, { method: 'DELETE' })).status).toBe(200);
    expect((await postMcp(service.port, ping, session)).status).toBe(401);
  });

  verifies('auth.revoked', 'of a tool call: it ends with an error, and the call is cancelled', async () => {
    const yaml = `${SCRIPTED}mcpServers: ${JSON.stringify({ tools: scriptableServer() })}\n`;
    await using service = await RunningService.start({ yaml, verifiers: [people()] });
    await serverWith(as(service, 'bob'), 'tools', 'connected');
    const running = await service.fetch('/api/mcp/servers/tools/tools/slow/execute', {
      method: 'POST',
      headers: { ...bearer('ada'), 'Content-Type': 'application/json', Accept: 'text/event-stream' },
      body: JSON.stringify({ ms: 60_000 }),
    });
    expect(running.status).toBe(200);
    service.access?.revoke('credential-of-ada');
    const [, event, data = ''] = /event: (.+)\ndata: (.+)/.exec(await running.text()) ?? [];
    expect([event, parseEnvelope(data)]).toMatchObject(['error', { code: 'UNAUTHORIZED' }]);
    expect(await toolText(as(service, 'bob'), 'tools', 'cancelled', { atLeast: 1 })).toBe('1');
  });

  verifies('auth.revoked', 'of a tool call without a stream: it is refused', async () => {
    const tools = new DirectedTools({ pay: {} });
    const yaml = `${SCRIPTED}mcpServers: { tools: { type: stdio, command: none } }\n`;
    const options = { yaml, adapters: { connector: tools }, verifiers: [people()] };
    await using service = await RunningService.start(options);
    await serverWith(as(service, 'bob'), 'tools', 'connected');
    const executed = as(service, 'ada').post('/api/mcp/servers/tools/tools/pay/execute', {});
    await tools.call(0);
    service.access?.revoke('credential-of-ada');
    expect(parseEnvelope(await (await executed).text())).toMatchObject({ code: 'UNAUTHORIZED' });
  });

  verifies('auth.revoked', 'of an export: it ends before its end', async () => {
    const options = { yaml: `${SCRIPTED}limits: { messagesPerMinute: false }\n`, verifiers: [people()] };
    await using service = await RunningService.start(options);
    const ada = as(service, 'ada');
    // Several times as much as the connection takes while nobody reads: each turn has its message, and twice its reply.
    const message = 'x'.repeat(4_000_000);
    for (let count = 0; count < 2; count += 1) await ada.post('/api/message-sync', { message });
    const path = '/api/sessions/default/export';
    const whole = await (await ada.fetch(path)).text();
    const cut = await openResponse(service.port, { path, headers: bearer('ada') });
    service.access?.revoke('credential-of-ada');
    let received = 0;
    await expect(async () => {
      for await (const chunk of cut) received += chunk.length;
    }).rejects.toThrow('aborted');
    expect(received).toBeGreaterThan(0);
    expect(received).toBeLessThan(whole.length);
  });
});
