import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect } from 'vitest';
import { readPackageVersion } from '../../../src/app/package-root.ts';
import { TASKS_EXTENSION } from '../../../src/gateway/mcp/mcp-surface.ts';
import { bearer, identity, KnownTokens, only } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { textOf as messageText } from '../../support/models/steps.ts';
import { projectRoot } from '../../support/project/source-imports.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { MCP_HEADERS, postMcp } from '../../support/tools/mcp-http.ts';
import { StatelessClient, statelessClient } from '../../support/tools/stateless-client.ts';
import { serverWith, toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

async function startDirected() {
  const model = new DirectedModel();
  const service = await RunningService.start({
    yaml: `${SCRIPTED}server: { drainTimeoutMs: 0 }\n`,
    adapters: { model },
  });
  return { model, service };
}

/** A request as it is on the wire. */
const asked = (method: string, params: object = {}, capabilities: object = {}) => ({
  jsonrpc: '2.0',
  id: 7,
  method,
  params: {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    },
  },
});
const headersOf = (method: string, name?: string) => ({
  'Mcp-Protocol-Version': '2026-07-28',
  'Mcp-Method': method,
  ...(name !== undefined && { 'Mcp-Name': name }),
});

describe('a client of MCP without sessions', () => {
  verifies('mcp.stateless', async () => {
    await using service = await RunningService.start();
    await using client = await statelessClient(service);
    expect(client.sdk.getServerVersion()).toEqual({
      name: 'agent-service',
      title: 'agent-service',
      version: readPackageVersion(),
    });
    const { tools, ttlMs, cacheScope } = await client.sdk.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['chat_with_agent', 'reset_conversation']);
    expect([ttlMs, cacheScope]).toEqual([60_000, 'private']);
    const { contents } = await client.sdk.readResource({ uri: 'agent://card' });
    expect(contents).toMatchObject([{ uri: 'agent://card', mimeType: 'application/json' }]);
    const progress: (string | undefined)[] = [];
    const { reply } = await client.chat(
      'what can you do?',
      {},
      { onprogress: ({ message }) => progress.push(message) },
    );
    expect(progress.length).toBeGreaterThan(10);
    expect(progress.join('')).toBe(reply);
  });

  verifies(
    'mcp.stateless',
    'a call without sessionId begins a conversation, and its answer says how to go on in it',
    async () => {
      const { model, service } = await startDirected();
      await using _ = service;
      await using client = await statelessClient(service);
      const first = client.chat('I am Alice');
      (await model.call(0)).answer('1');
      const { sessionId } = await first;
      const other = client.chat('I am Bob');
      expect((await model.call(1)).request.messages.map(messageText)).toEqual(['I am Bob']);
      (await model.call(1)).answer('2');
      expect((await other).sessionId).not.toBe(sessionId);
      await using anew = await statelessClient(service);
      const next = anew.chat('who am I?', { sessionId });
      expect((await model.call(2)).request.messages.map(messageText)).toEqual([
        'I am Alice',
        '1',
        'who am I?',
      ]);
      (await model.call(2)).answer('Alice');
      expect(await next).toEqual({ reply: 'Alice', sessionId });
      expect(await client.call('reset_conversation')).toMatchObject({ isError: true });
      expect((await client.call('reset_conversation', { sessionId })).isError).toBeFalsy();
    },
  );

  verifies('mcp.stateless', 'who closes the stream of a call cancels its turn', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    await using client = await statelessClient(service);
    const abort = new AbortController();
    const answer = expect(client.chat('think', {}, { signal: abort.signal })).rejects.toThrow();
    const running = await model.call(0);
    abort.abort();
    await answer;
    await running.aborted;
  });

  verifies('mcp.stateless', 'errors are as the protocol has them, also by HTTP status', async () => {
    await using service = await RunningService.start();
    const { port } = service;
    const unknown = await postMcp(port, asked('tools/make'), headersOf('tools/make'));
    expect([unknown.status, JSON.parse(unknown.text)]).toMatchObject([
      404,
      { id: 7, error: { code: -32601 } },
    ]);
    const other = await postMcp(port, asked('tools/list'), headersOf('resources/list'));
    expect([other.status, JSON.parse(other.text)]).toMatchObject([400, { error: { code: -32020 } }]);
    const read = await postMcp(
      port,
      asked('resources/read', { uri: 'agent://x' }),
      headersOf('resources/read', 'agent://x'),
    );
    expect(JSON.parse(read.text)).toMatchObject({ error: { code: -32602, data: { uri: 'agent://x' } } });
    const tool = await postMcp(
      port,
      asked('tools/call', { name: 'x', arguments: {} }),
      headersOf('tools/call', 'x'),
    );
    expect(tool.text).toContain('"code":-32602');
    const call = asked('tools/call', { name: 'chat_with_agent', arguments: { message: '' } });
    const bad = await postMcp(port, call, headersOf('tools/call', 'chat_with_agent'));
    expect(bad.text).toMatch(/"isError":true.*"resultType":"complete"/);
    expect(bad.headers['mcp-session-id']).toBeUndefined();
  });

  verifies(
    'mcp.stateless',
    'a subscription tells when a tool server of the card has another status',
    async () => {
      const yaml = `${SCRIPTED}limits: { requestsPerMinute: false }\nmcpServers: ${JSON.stringify({ tools: scriptableServer() })}\n`;
      await using service = await RunningService.start({ yaml });
      const { id } = await serverWith(service, 'tools', 'connected');
      await using client = await statelessClient(service);
      const told = Promise.withResolvers<string>();
      client.sdk.setNotificationHandler('notifications/resources/updated', ({ params }) =>
        told.resolve(params.uri),
      );
      const subscription = await client.sdk.listen({
        toolsListChanged: true,
        resourceSubscriptions: ['agent://card'],
      });
      expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: ['agent://card'] });
      await service.fetch(`/api/mcp/servers/${id}`, { method: 'DELETE' });
      expect(await told.promise).toBe('agent://card');
      await subscription.close();
      const uris = Array.from({ length: 101 }, (_, index) => `file:///${index}`);
      await expect(client.sdk.listen({ resourceSubscriptions: uris })).rejects.toThrow('too many resources');
    },
  );

  verifies(
    'mcp.stateless',
    'a call of a tool that has told nothing yet is cancelled when its client goes away',
    async () => {
      const limits = 'limits: { requestsPerMinute: false }\nmcp: { expose: [tools] }\n';
      const yaml = `${SCRIPTED}${limits}mcpServers: ${JSON.stringify({ tools: scriptableServer() })}\n`;
      await using service = await RunningService.start({ yaml });
      await serverWith(service, 'tools', 'connected');
      const slow = asked('tools/call', { name: 'slow', arguments: { ms: 60_000 } });
      const headers = { ...MCP_HEADERS, ...headersOf('tools/call', 'slow') };
      const leave = async () => {
        const call = request({
          host: '127.0.0.1',
          port: service.port,
          method: 'POST',
          path: '/mcp',
          headers,
        });
        call.on('error', () => undefined).end(JSON.stringify(slow));
        await once(call, 'finish');
        // The call has most likely reached the tool server before this one.
        await toolText(service, 'tools', 'echo', { message: 'there' });
        call.destroy();
        return toolText(service, 'tools', 'cancelled', {});
      };
      await expect.poll(leave).not.toBe('0');
    },
  );

  verifies('mcp.stateless', 'credentials and scopes are as for the others', async () => {
    const tokens = new KnownTokens({ reader: identity('reader', { scopes: only('sessions:read') }) });
    await using service = await RunningService.start({ verifiers: [tokens] });
    const { port } = service;
    const call = asked('tools/call', { name: 'chat_with_agent', arguments: { message: 'hello' } });
    const headers = headersOf('tools/call', 'chat_with_agent');
    const nobody = await postMcp(port, call, headers);
    expect(nobody.status).toBe(401);
    expect(nobody.headers['www-authenticate']).toContain('resource_metadata');
    const refused = await postMcp(port, call, { ...headers, ...bearer('reader') });
    expect(refused.status).toBe(403);
    expect(refused.headers['www-authenticate']).toContain('insufficient_scope');
  });

  verifies(
    'mcp.stateless',
    'a call that lacks one of its scopes begins no turn, as a task either',
    async () => {
      const tokens = new KnownTokens({
        writer: identity('writer', { scopes: only('sessions:write') }),
        root: identity('root', { roles: ['admin'] }),
      });
      await using service = await RunningService.start({ verifiers: [tokens] });
      const tool = { name: 'chat_with_agent', arguments: { message: 'hello' } };
      const tasks = { extensions: { [TASKS_EXTENSION]: {} } };
      const headers = { ...headersOf('tools/call', 'chat_with_agent'), ...bearer('writer') };
      for (const capabilities of [{}, tasks]) {
        const refused = await postMcp(service.port, asked('tools/call', tool, capabilities), headers);
        expect(refused.status).toBe(403);
        expect(JSON.parse(refused.text)).toMatchObject({ error: { details: { scope: 'sessions:read' } } });
      }
      const sessions = await service.fetch('/api/sessions', { headers: bearer('root') });
      expect(await sessions.json()).toMatchObject({ sessions: [] });
    },
  );

  verifies('mcp.stateless', 'both eras get the same answers at the same address', async () => {
    await using service = await RunningService.start();
    const sdk = new Client(
      { name: 'both', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    const older = new Client({ name: 'older', version: '1' });
    await sdk.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`)));
    await older.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`)));
    expect(older.getNegotiatedProtocolVersion()).toBe('2025-11-25');
    expect(sdk.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    const call = { name: 'chat_with_agent', arguments: { message: 'hello' } };
    const [newer, old] = await Promise.all([sdk.callTool(call), older.callTool(call)]);
    expect(newer.content).toEqual(old.content);
    await Promise.all([sdk.close(), older.close()]);
  });

  verifies('mcp.stateless', 'over stdio too', async () => {
    await using folder = await agentFolder(SCRIPTED);
    const args = ['--mode', 'mcp', '--transport', 'stdio', '--agent', 'agent.yml'];
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [join(projectRoot, 'src/app/main.ts'), ...args],
      cwd: folder.path,
      stderr: 'ignore',
    });
    await using client = await StatelessClient.over(transport);
    expect(client.sdk.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    const { sessionId, reply } = await client.chat('hello');
    expect(reply).toContain('Hello!');
    expect((await client.chat('again', { sessionId })).sessionId).toBe(sessionId);
  });
});
