import { describe, expect, it } from 'vitest';
import { authorizedTools } from '../../support/tools/mcp/authorized-tools.ts';
import { authorizingServer } from '../../support/tools/mcp/authorizing-server.ts';
import { said } from '../../support/tools/mcp/connecting.ts';

/** A tool server that was configured anew while somebody still uses it. */
async function replacedServer() {
  const server = await authorizingServer();
  const tools = authorizedTools(server.url);
  await tools.refusal();
  await tools.visit();
  const former = await tools.connect();
  const reconnectFormer = tools.configure({ timeout: 5_000 });
  const latest = await tools.connect();
  const calls = async (connection: typeof former) =>
    said(await connection.callTool('echo', { message: 'hello' }));
  return {
    server,
    tools,
    former,
    latest,
    calls,
    reconnectFormer,
    async [Symbol.asyncDispose]() {
      await former.close();
      await latest.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('the connection to a tool server that was configured anew', () => {
  it('keeps its token, and asks for no other', async () => {
    await using replaced = await replacedServer();
    const { server, tools, former, latest, calls } = replaced;
    expect([await calls(former), await calls(former), await calls(latest)]).toEqual(Array(3).fill('hello'));
    expect(server.registrations).toBe(1);
    expect(server.tokenRequests).toHaveLength(1);
    expect(tools.url()).toBeUndefined();
  });

  it('gets a token that is refused from its successor only', async () => {
    await using replaced = await replacedServer();
    const { server, tools, former, latest, calls, reconnectFormer } = replaced;
    server.expire();
    expect(await former.callTool('echo', { message: 'hello' })).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('HTTP 401'),
    });
    expect(server.tokenRequests).toHaveLength(1);
    expect(await calls(latest)).toBe('hello');
    const again = await reconnectFormer();
    expect(await calls(again)).toBe('hello');
    await again.close();
    expect(server.tokenRequests).toHaveLength(2);
    expect(server.registrations).toBe(1);
    expect(tools.url()).toBeUndefined();
  });

  it('renews no token', async () => {
    await using replaced = await replacedServer();
    const { server, tools, former, latest, calls } = replaced;
    tools.wait(3_570_000);
    expect(await calls(former)).toBe('hello');
    expect(server.tokenRequests).toHaveLength(1);
    expect(await calls(latest)).toBe('hello');
    expect(server.tokenRequests).toHaveLength(2);
  });

  it('may be lost and opened again, and takes nothing from its successor', async () => {
    await using replaced = await replacedServer();
    const { server, tools, latest, calls, reconnectFormer } = replaced;
    const again = await reconnectFormer();
    expect(await calls(again)).toBe('hello');
    await again.close();
    server.expire();
    expect(await calls(latest)).toBe('hello');
    expect(server.registrations).toBe(1);
    expect(tools.url()).toBeUndefined();
  });
});
