import { expect, test } from 'vitest';
import type { McpServerConfig } from '../../../src/core/tool-server/mcp-server-config.ts';
import type { ToolServerConnection } from '../../../src/ports/tool-server.ts';
import { said, testConnector } from '../../support/tools/mcp/connecting.ts';
import { oddServer, scriptableServer } from '../../support/tools/mcp/tool-servers.ts';

async function withServer(
  config: McpServerConfig,
  use: (connection: ToolServerConnection, connector: ReturnType<typeof testConnector>) => Promise<void>,
): Promise<void> {
  const connector = testConnector();
  const connection = await connector.connect(config);
  try {
    await use(connection, connector);
  } finally {
    await connection.close();
  }
}

test.concurrent('describes tools, and takes read-only and idempotent ones for repeatable', async () => {
  await withServer(scriptableServer(), async (connection) => {
    const tools = await connection.listTools();
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
      description: 'Says the message.',
      inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
      repeatable: true,
    });
    const repeatable = tools.filter((tool) => tool.repeatable).map(({ name }) => name);
    expect(repeatable).toEqual(['echo', 'add']);
  });
});

test.concurrent('follows every page of the tool list', async () => {
  await withServer(oddServer(['pages']), async (connection) => {
    const tools = await connection.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['one', 'two', 'three', 'four']);
  });
});

test.concurrent('returns the same list while the server says the same, whoever sees the difference', async () => {
  await withServer(oddServer(['retitled']), async (connection) => {
    const tools = await connection.listTools();
    expect(await connection.listTools()).toBe(tools);
    const changed = await connection.listTools();
    expect(changed).toEqual(tools);
    expect(changed).not.toBe(tools);
  });
});

test.concurrent('refuses pages that go in a circle', async () => {
  await withServer(oddServer(['circle']), async (connection) => {
    await expect(connection.listTools()).rejects.toThrow('go in a circle');
  });
});

test.concurrent('lists no further when the signal aborts', async () => {
  await withServer(oddServer(['pages']), async (connection) => {
    const controller = new AbortController();
    const listing = connection.listTools(controller.signal);
    controller.abort();
    await expect(listing).rejects.toThrow('the call was cancelled');
  });
});

test.concurrent('lists nothing for a server without tools', async () => {
  await withServer(oddServer(['toolless']), async (connection) => {
    expect(await connection.listTools()).toEqual([]);
  });
});

test.concurrent('completes sparse tools, and leaves out those it cannot read', async () => {
  await withServer(oddServer(['odd-tools']), async (connection, { log }) => {
    const tools = await connection.listTools();
    expect(tools).toEqual([
      { name: 'bare', description: '', inputSchema: { type: 'object' }, repeatable: false },
      {
        name: 'untyped',
        description: '',
        inputSchema: { type: 'object', properties: {} },
        repeatable: false,
      },
      { name: 'bad-output', description: '', inputSchema: { type: 'object' }, repeatable: false },
      { name: 'liar', description: '', inputSchema: { type: 'object' }, repeatable: false },
    ]);
    const [warning] = log.lines.filter(({ level }) => level === 'warn');
    expect(warning?.fields.tools).toEqual([
      expect.stringMatching(/^listed: /),
      expect.stringMatching(/^\(no name\): /),
    ]);
  });
});

test.concurrent('holds a structured result against the schema the tool promised', async () => {
  await withServer(oddServer(['odd-tools']), async (connection, { log }) => {
    await connection.listTools();
    expect(await connection.callTool('liar', {})).toEqual({
      status: 'failed',
      reason: expect.stringContaining("must have required property 'sum'"),
      result: { content: [], structuredContent: { other: 1 } },
    });
    expect(await connection.callTool('bad-output', {})).toMatchObject({ status: 'succeeded' });
    expect(log.lines.at(-1)).toMatchObject({ level: 'warn', fields: { tool: 'bad-output' } });
  });
});

test.concurrent('gives text and structure of a result', async () => {
  await withServer(scriptableServer(), async (connection) => {
    await connection.listTools();
    expect(await connection.callTool('add', { a: 1, b: 2 })).toEqual({
      status: 'succeeded',
      result: { content: [{ type: 'text', text: '3' }], structuredContent: { sum: 3 } },
    });
  });
});

test.concurrent('keeps content of unknown types, and drops _meta', async () => {
  await withServer(oddServer(['any']), async (connection) => {
    expect(await connection.callTool('bare', {})).toEqual({
      status: 'succeeded',
      result: { content: [{ type: 'hologram', data: 1 }] },
    });
  });
});

test.concurrent('sends arguments even when there are none', async () => {
  await withServer(oddServer(['any']), async (connection) => {
    const params = JSON.parse(String(said(await connection.callTool('plain', {}))));
    expect(params).toMatchObject({ name: 'plain', arguments: {} });
  });
});

test.concurrent("settles a tool's own error as failed, with what it said, bounded", async () => {
  await withServer(scriptableServer(), async (connection) => {
    const reason = 'no such file';
    expect(await connection.callTool('fail', { reason })).toEqual({
      status: 'failed',
      reason,
      result: { content: [{ type: 'text', text: reason }] },
    });
    const long = await connection.callTool('fail', { reason: 'x'.repeat(5_000) });
    expect(long.status === 'failed' && long.reason).toBe(`${'x'.repeat(2_000)}…`);
  });
});

test.concurrent('settles a refused call with the message of the refusal', async () => {
  await withServer(oddServer(['any']), async (connection) => {
    expect(await connection.callTool('refused', {})).toEqual({ status: 'failed', reason: 'no such tool' });
  });
});

test.concurrent('settles an answer that is not valid MCP as failed', async () => {
  await withServer(oddServer(['any']), async (connection) => {
    expect(await connection.callTool('nonsense', {})).toEqual({
      status: 'failed',
      reason: 'the server sent an answer that is not valid MCP',
    });
  });
});

test.concurrent('tells the server that a call was cancelled, and settles it at once', async () => {
  await withServer(scriptableServer(), async (connection) => {
    const controller = new AbortController();
    const running = connection.callTool('slow', { ms: 60_000 }, { signal: controller.signal });
    await connection.callTool('echo', { message: 'the slow call has arrived' });
    controller.abort(new Error('private to the service'));
    expect(await running).toEqual({ status: 'failed', reason: 'the call was cancelled' });
    expect(said(await connection.callTool('cancelled', { atLeast: 1 }))).toBe('1');
  });
});

test.concurrent('does not call at all when the signal has aborted before', async () => {
  await withServer(scriptableServer(), async (connection) => {
    const outcome = await connection.callTool('slow', { ms: 1 }, { signal: AbortSignal.abort() });
    expect(outcome).toEqual({ status: 'failed', reason: 'the call was cancelled' });
    expect(said(await connection.callTool('cancelled', {}))).toBe('0');
  });
});

test.concurrent('cancels nothing when the signal aborts after the call has ended', async () => {
  await withServer(scriptableServer(), async (connection, { log }) => {
    const controller = new AbortController();
    await connection.callTool('slow', { ms: 1 }, { signal: controller.signal });
    controller.abort();
    expect(said(await connection.callTool('cancelled', {}))).toBe('0');
    expect(log.lines.filter(({ message }) => message.includes('error'))).toEqual([]);
  });
});

test.concurrent('tells when the tools have changed', async () => {
  await withServer(scriptableServer(), async (connection, { toolsChanged }) => {
    await connection.callTool('add_tool', { name: 'brand_new' });
    await toolsChanged;
    const tools = await connection.listTools();
    expect(tools.map(({ name }) => name)).toContain('brand_new');
    expect(said(await connection.callTool('brand_new', {}))).toBe('brand_new');
  });
});
