import { describe, expect } from 'vitest';
import { z } from 'zod';
import { eventually } from '../../support/project/eventually.ts';
import { errorOf, Timestamp } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { streamableServer } from '../../support/tools/mcp/http-servers.ts';
import { oddServer, scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { execute, serverWith, toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const isTimestamp = expect.toSatisfy((value) => Timestamp.safeParse(value).success);

/** With all of its servers connected. Polling needs more than 100 requests a minute. */
async function start(mcpServers: Record<string, object>): Promise<RunningService> {
  const llm = { provider: 'scripted', model: 'offline' };
  const yaml = JSON.stringify({ llm, mcpServers, limits: { requestsPerMinute: false } });
  const service = await RunningService.start({ yaml });
  for (const name of Object.keys(mcpServers)) await serverWith(service, name, 'connected');
  return service;
}

const Timed = z.looseObject({ execution: z.looseObject({ duration: z.number() }) });

const everything = { type: 'stdio', command: 'mcp-server-everything', args: ['stdio'] };

/** Exactly the fields of the interface. */
const ToolRecord = z.strictObject({
  id: z.string(),
  name: z.string().min(1),
  description: z.string(),
  inputSchema: z.looseObject({ type: z.literal('object') }),
});
const ToolList = z.strictObject({ tools: z.array(ToolRecord), timestamp: Timestamp });

async function listTools(service: RunningService, server: string) {
  const response = await service.fetch(`/api/mcp/servers/${encodeURIComponent(server)}/tools`);
  expect(response.status).toBe(200);
  return ToolList.parse(await response.json()).tools;
}

async function toolNames(service: RunningService, server: string): Promise<string[]> {
  return (await listTools(service, server)).map(({ name }) => name);
}

describe('GET /api/mcp/servers/{id}/tools', () => {
  verifies('tools.list', async () => {
    await using service = await start({ everything });
    const tools = await listTools(service, 'everything');
    expect(tools.length).toBeGreaterThan(5);
    for (const { id, name, description } of tools) {
      expect(id).toBe(name);
      expect(description).not.toBe('');
    }
    expect(tools.find(({ name }) => name === 'get-sum')?.inputSchema).toMatchObject({
      properties: { a: { type: 'number', description: expect.any(String) }, b: { type: 'number' } },
      required: ['a', 'b'],
    });
  });

  verifies('tools.list', 'all pages of them', async () => {
    await using service = await start({ paged: oddServer(['pages']) });
    expect(await toolNames(service, 'paged')).toEqual(['one', 'two', 'three', 'four']);
  });

  verifies('tools.changed', async () => {
    await using service = await start({ tools: scriptableServer() });
    expect(await toolNames(service, 'tools')).not.toContain('brand_new');
    await toolText(service, 'tools', 'add_tool', { name: 'brand_new' });
    await eventually(
      () => toolNames(service, 'tools'),
      (names) => names.includes('brand_new'),
    );
    expect(await toolText(service, 'tools', 'brand_new')).toBe('brand_new');
    const reply = await service.post('/api/message-sync', { message: 'use brand_new' });
    expect(await reply.json()).toMatchObject({ response: expect.stringContaining('answered:\nbrand_new') });
  });
});

describe('POST /api/mcp/servers/{id}/tools/{name}/execute', () => {
  verifies('tools.execute', async () => {
    await using service = await start({ everything });
    const response = await execute(service, 'everything', 'get-sum', { a: 19, b: 23 });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      success: true,
      data: { content: [{ type: 'text', text: expect.stringContaining('42') }] },
      execution: { toolName: 'get-sum', serverId: 'everything', duration: expect.any(Number) },
      timestamp: isTimestamp,
    });
  });

  verifies('tools.execute', 'the duration is that of the call', async () => {
    await using service = await start({ tools: scriptableServer() });
    const before = performance.now();
    const response = await execute(service, 'tools', 'slow', { ms: 80 });
    const elapsed = performance.now() - before;
    const { execution } = Timed.parse(await response.json());
    // The tool's timer may be a millisecond early by this clock.
    expect(execution.duration).toBeGreaterThan(78);
    expect(execution.duration).toBeLessThanOrEqual(elapsed);
  });

  verifies('tools.execute', 'a structured result, and a call without a body', async () => {
    await using service = await start({ tools: scriptableServer() });
    const structured = await execute(service, 'tools', 'add', { a: 1, b: 2 });
    expect(await structured.json()).toMatchObject({ data: { structuredContent: { sum: 3 } } });
    const path = '/api/mcp/servers/tools/tools/pid/execute';
    const withoutBody = await service.fetch(path, { method: 'POST' });
    expect(await withoutBody.json()).toMatchObject({ success: true, execution: { toolName: 'pid' } });
  });

  verifies('tools.encoded', async () => {
    const server = 'my tools: größer & besser';
    const tool = 'say/it now?';
    await using service = await start({ [server]: scriptableServer() });
    await toolText(service, server, 'add_tool', { name: tool });
    await eventually(
      () => toolNames(service, server),
      (names) => names.includes(tool),
    );
    const response = await execute(service, server, tool);
    expect(await response.json()).toMatchObject({
      data: { content: [{ text: tool }] },
      execution: { toolName: tool, serverId: server },
    });
    const broken = await service.fetch('/api/mcp/servers/%E0%A4%A/tools');
    expect((await errorOf(broken, 400)).code).toBe('INVALID_REQUEST');
  });

  verifies('tools.server-unknown', async () => {
    await using service = await start({ tools: scriptableServer() });
    const requests = [
      () => service.fetch('/api/mcp/servers/no%20body/tools'),
      () => execute(service, 'no body', 'echo', { message: 'hi' }),
      () => service.post('/api/mcp/servers/no%20body/reconnect'),
      () => service.fetch('/api/mcp/servers/no%20body', { method: 'DELETE' }),
    ];
    for (const request of requests) {
      expect(await errorOf(await request(), 404)).toMatchObject({
        code: 'SERVER_NOT_FOUND',
        details: { serverId: 'no body' },
      });
    }
  });

  verifies('tools.tool-unknown', async () => {
    await using service = await start({ tools: scriptableServer() });
    for (const name of ['ecko', 'ECHO', '__proto__', 'constructor']) {
      expect(await errorOf(await execute(service, 'tools', name), 404)).toMatchObject({
        code: 'TOOL_NOT_FOUND',
        details: { toolName: name, serverId: 'tools' },
      });
    }
  });

  verifies('tools.arguments', async () => {
    await using service = await start({ tools: scriptableServer(), everything });
    const misfits: [string, string, unknown, string][] = [
      ['tools', 'echo', {}, 'message'],
      ['tools', 'echo', { message: 5 }, 'message'],
      ['tools', 'add', { a: 1, b: 'two' }, 'b'],
      ['everything', 'get-sum', { a: 1 }, 'b'],
      ['everything', 'get-structured-content', { location: 'Paris' }, 'location'],
    ];
    for (const [server, tool, args, property] of misfits) {
      expect(await errorOf(await execute(service, server, tool, args), 400)).toMatchObject({
        code: 'INVALID_REQUEST',
        details: {
          field: property,
          issue: expect.stringContaining(property),
          toolName: tool,
          serverId: server,
        },
      });
    }
    expect(await errorOf(await execute(service, 'tools', 'echo', ['hi']), 400)).toMatchObject({
      code: 'INVALID_REQUEST',
      details: { issue: expect.stringContaining('array') },
    });
  });

  verifies('tools.failed', async () => {
    await using service = await start({ tools: scriptableServer() });
    const response = await execute(service, 'tools', 'fail', { reason: 'the disk is full' });
    expect(await errorOf(response, 500)).toMatchObject({
      code: 'TOOL_EXECUTION_FAILED',
      details: { toolName: 'fail', serverId: 'tools', reason: 'the disk is full' },
    });
    expect(await toolText(service, 'tools', 'echo', { message: 'still here' })).toBe('still here');
  });

  verifies('tools.failed', 'a server that is not connected, and how it is connected again', async () => {
    await using service = await start({ 'my tools': scriptableServer() });
    await service.fetch('/api/mcp/servers/my%20tools', { method: 'DELETE' });
    const response = await execute(service, 'my tools', 'echo', { message: 'hello' });
    expect(await errorOf(response, 500)).toMatchObject({
      code: 'TOOL_EXECUTION_FAILED',
      details: {
        reason: expect.stringContaining('its status is disconnected'),
        suggestion: 'POST /api/mcp/servers/my%20tools/reconnect connects it.',
      },
    });
  });

  verifies('tools.failed', 'a crash', async () => {
    await using service = await start({ tools: scriptableServer() });
    const response = await execute(service, 'tools', 'crash', { code: 9 });
    expect(await errorOf(response, 500)).toMatchObject({
      code: 'TOOL_EXECUTION_FAILED',
      details: { toolName: 'crash', serverId: 'tools', reason: expect.stringContaining('code 9') },
    });
  });

  verifies('tools.failed', 'the process is killed while it works', async () => {
    await using service = await start({ tools: scriptableServer() });
    const pid = Number(await toolText(service, 'tools', 'pid'));
    const running = execute(service, 'tools', 'slow', { ms: 60_000 });
    // Answered after the slow call was sent: calls go over one pipe.
    await toolText(service, 'tools', 'echo', { message: 'the slow call is under way' });
    process.kill(pid, 'SIGKILL');
    expect(await errorOf(await running, 500)).toMatchObject({
      code: 'TOOL_EXECUTION_FAILED',
      details: { toolName: 'slow', serverId: 'tools', reason: expect.stringContaining('SIGKILL') },
    });
  });

  verifies('tools.failed', 'a time-out, and the server is told', async () => {
    await using server = await streamableServer();
    await using service = await start({ remote: { type: 'http', baseUrl: server.url, timeout: 400 } });
    const response = await execute(service, 'remote', 'slow', { ms: 60_000 });
    expect(await errorOf(response, 500)).toMatchObject({
      code: 'TOOL_EXECUTION_FAILED',
      details: { toolName: 'slow', serverId: 'remote', reason: expect.stringContaining('400 ms') },
    });
    expect(await toolText(service, 'remote', 'cancelled', { atLeast: 1 })).toBe('1');
  });

  verifies('tools.same-name', async () => {
    await using service = await start({ alpha: scriptableServer(), beta: scriptableServer() });
    const pids = new Map<string, string>();
    for (const server of ['alpha', 'beta']) pids.set(server, await toolText(service, server, 'pid'));
    expect(new Set(pids.values()).size).toBe(2);
    using client = await service.connect();
    for (const [turn, server] of ['alpha', 'beta'].entries()) {
      client.say(`use ${server}__pid`);
      const frames = await client.settled(turn + 1);
      const result = frames.filter(({ event }) => event === 'toolResult').at(-1);
      expect(result?.data).toMatchObject({
        toolName: 'pid',
        serverId: server,
        result: { content: [{ text: pids.get(server) }] },
      });
    }
  });
});
