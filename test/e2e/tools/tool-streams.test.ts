import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ServerLogLine } from '../../../src/core/tool-server/server-log.ts';
import { eventually } from '../../support/project/eventually.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { oddServer, scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { serverWith, toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const everything = { type: 'stdio', command: 'mcp-server-everything', args: ['stdio'] };
const SECRET = 'stream-secret-77aa';

async function start(mcpServers: Record<string, object>, dead: string[] = []): Promise<RunningService> {
  const llm = { provider: 'scripted', model: 'offline' };
  const yaml = JSON.stringify({ llm, mcpServers, limits: { requestsPerMinute: false } });
  const service = await RunningService.start({ yaml });
  for (const name of Object.keys(mcpServers))
    await serverWith(service, name, dead.includes(name) ? 'error' : 'connected');
  return service;
}

interface ToolRun {
  readonly tool: string;
  readonly args?: object;
  readonly server?: string;
  readonly key?: string;
  readonly signal?: AbortSignal;
}

function stream(service: RunningService, { tool, args = {}, server = 'tools', key, signal }: ToolRun) {
  return service.fetch(`/api/mcp/servers/${server}/tools/${tool}/execute`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
      ...(key !== undefined && { 'Idempotency-Key': key }),
    },
    body: JSON.stringify(args),
    ...(signal && { signal }),
  });
}

const Event = z.tuple([z.string(), z.looseObject({})]);

/** Name and data of each event of a whole stream. */
async function eventsOf(response: Response): Promise<z.infer<typeof Event>[]> {
  expect(response.headers.get('Content-Type')).toBe('text/event-stream');
  const blocks = (await response.text()).split('\n\n').filter((block) => block.startsWith('event: '));
  return blocks.map((block) => {
    const [, name, data = ''] = /^event: (.+)\ndata: (.+)$/.exec(block) ?? [];
    return Event.parse([name, JSON.parse(data)]);
  });
}

async function logOf(service: RunningService, server = 'tools', after = 0) {
  const response = await service.fetch(`/api/mcp/servers/${server}/logs?after=${after}`);
  return z.strictObject({ lines: z.array(ServerLogLine), timestamp: z.string() }).parse(await response.json())
    .lines;
}

describe('a tool that a client runs as an event stream', () => {
  verifies('tools.stream', async () => {
    await using service = await start({ everything });
    const run = { server: 'everything', tool: 'trigger-long-running-operation' };
    const events = await eventsOf(await stream(service, { ...run, args: { duration: 0.2, steps: 4 } }));
    // The SDK of MCP may drop progress that arrives together with the answer.
    expect(events.slice(0, 3)).toEqual([1, 2, 3].map((progress) => ['progress', { progress, total: 4 }]));
    const [name, result] = events.at(-1) ?? [];
    expect(name).toBe('result');
    expect(result).toMatchObject({
      success: true,
      data: { content: [{ type: 'text', text: expect.stringContaining('completed') }] },
      execution: { serverId: 'everything', toolName: run.tool },
    });
  });

  verifies('tools.stream', 'what fails and what is refused', async () => {
    await using service = await start({ tools: scriptableServer() });
    const failed = await eventsOf(await stream(service, { tool: 'fail', args: { reason: 'out of luck' } }));
    expect(failed).toEqual([
      [
        'error',
        expect.objectContaining({
          success: false,
          error: expect.objectContaining({ code: 'TOOL_EXECUTION_FAILED' }),
        }),
      ],
    ]);
    // What cannot be run at all is refused with its own status.
    expect(await errorOf(await stream(service, { tool: 'add', args: { a: 'x' } }), 400)).toMatchObject({
      code: 'INVALID_REQUEST',
    });
    expect(await errorOf(await stream(service, { tool: 'none' }), 404)).toMatchObject({
      code: 'TOOL_NOT_FOUND',
    });
  });

  verifies('tools.stream', 'repeated with a key', async () => {
    await using service = await start({ tools: scriptableServer() });
    const once = { tool: 'pid', key: 'pid-once' };
    const [first] = await eventsOf(await stream(service, once));
    const [second] = await eventsOf(await stream(service, once));
    expect(second?.[1].data).toEqual(first?.[1].data);
  });

  verifies('tools.stream-cancel', async () => {
    await using service = await start({ tools: scriptableServer() });
    const client = new AbortController();
    const args = { ms: 60_000, progressEveryMs: 5 };
    const response = await stream(service, { tool: 'slow', args, signal: client.signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBeDefined();
    client.abort();
    // The server itself counts the calls whose request was cancelled.
    expect(await toolText(service, 'tools', 'cancelled', { atLeast: 1 })).toBe('1');
  });

  verifies('tools.stream-cancel', 'not after its end', async () => {
    await using service = await start({ tools: scriptableServer() });
    await eventsOf(await stream(service, { tool: 'slow', args: { ms: 1 } }));
    expect(await toolText(service, 'tools', 'cancelled')).toBe('0');
  });
});

describe('GET /api/mcp/servers/{id}/logs', () => {
  verifies('servers.log', async () => {
    await using service = await start({ everything });
    await toolText(service, 'everything', 'toggle-simulated-logging');
    const lines = await eventually(
      () => logOf(service, 'everything'),
      (all) => all.some(({ source }) => source === 'log'),
    );
    expect(lines[0]).toMatchObject({ seq: 1, source: 'stderr', text: expect.stringContaining('STDIO') });
    expect(lines.find(({ source }) => source === 'log')).toMatchObject({
      level: expect.stringMatching(/^[a-z]+$/),
      text: expect.stringMatching(/level.message/),
    });
    const last = lines.at(-1)?.seq ?? 0;
    expect((await logOf(service, 'everything', last)).every(({ seq }) => seq > last)).toBe(true);
  });

  verifies('servers.log', 'the last 200 lines, what the server asked, and no secret', async () => {
    await using service = await start({ tools: scriptableServer({ env: { API_TOKEN: SECRET } }) });
    for (let line = 1; line <= 150; line += 1)
      await toolText(service, 'tools', 'log', { text: `line ${line} ${SECRET}` });
    await toolText(service, 'tools', 'ask', { method: 'sampling/createMessage', params: { maxTokens: 1 } });
    const lines = await eventually(
      () => logOf(service),
      (all) => all.filter(({ text }) => text.includes('line 150')).length === 2,
    );
    expect(lines.length).toBe(200);
    expect(JSON.stringify(lines)).not.toContain(SECRET);
    expect(lines).toContainEqual(
      expect.objectContaining({
        source: 'request',
        method: 'sampling/createMessage',
        text: '{"maxTokens":1}',
        answer: expect.stringContaining('refused'),
      }),
    );
  });

  verifies('servers.log', 'of a server that does not start', async () => {
    await using service = await start({ broken: oddServer(['exits', 'no licence']) }, ['broken']);
    expect((await logOf(service, 'broken')).map(({ text }) => text)).toContain('no licence');
    expect(await errorOf(await service.fetch('/api/mcp/servers/nobody/logs'), 404)).toMatchObject({
      code: 'SERVER_NOT_FOUND',
    });
  });
});
