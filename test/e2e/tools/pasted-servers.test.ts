import { describe, expect } from 'vitest';
import { parse } from 'yaml';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { sseServer, streamableServer } from '../../support/tools/mcp/http-servers.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { listServers, serverWith, toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const { type: _, ...untyped } = scriptableServer();
const llm = { provider: 'scripted', model: 'offline' };

describe('a tool server as other MCP clients write it', () => {
  verifies('servers.pasted', async () => {
    await using remote = await streamableServer({});
    const mcpServers = { process: untyped, remote: { type: 'streamable-http', url: remote.url } };
    await using service = await RunningService.start({ yaml: JSON.stringify({ llm, servers: mcpServers }) });
    expect(await serverWith(service, 'process', 'connected')).toMatchObject({ type: 'stdio' });
    expect(await serverWith(service, 'remote', 'connected')).toMatchObject({ type: 'http' });
    expect(await toolText(service, 'process', 'echo', { message: 'hi' })).toBe('hi');
    const exported = await (await service.fetch('/api/config.yaml')).text();
    await using again = await RunningService.start({ yaml: exported });
    await serverWith(again, 'remote', 'connected');
  });

  verifies('servers.pasted', 'in POST /api/connect-server, which requires the type', async () => {
    await using remote = await sseServer();
    await using service = await RunningService.start();
    const connect = (name: string, config: object) => service.post('/api/connect-server', { name, config });
    expect((await connect('process', untyped)).status).toBe(400);
    expect((await connect('process', { ...untyped, type: 'stdio' })).status).toBe(200);
    expect((await connect('remote', { type: 'sse', url: remote.url })).status).toBe(200);
    expect((await listServers(service)).map(({ type }) => type)).toEqual(['stdio', 'http']);
  });

  verifies('servers.pasted', 'what cannot be read is refused by the name of its field', async () => {
    await using service = await RunningService.start();
    const refused = async (config: object) =>
      errorOf(await service.post('/api/connect-server', { name: 'a', config }), 400);
    expect(await refused({ ...untyped, type: 'stdio', envFile: '.env' })).toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'config.envFile', issue: expect.stringContaining('put the variables under env') },
    });
    expect((await refused({ type: 'sse', url: 'nowhere' })).details).toMatchObject({ field: 'config.url' });
    expect((await refused({ ...untyped, type: 'stdio', disabled: true })).details).toMatchObject({
      field: 'config.disabled',
    });
    expect(await refused({ args: [] })).toMatchObject({
      code: 'MISSING_FIELD',
      details: { field: 'config.type' },
    });
  });

  verifies('servers.disabled', async () => {
    const mcpServers = { off: { ...untyped, disabled: true }, on: untyped };
    await using service = await RunningService.start({ yaml: JSON.stringify({ llm, mcpServers }) });
    await serverWith(service, 'on', 'connected');
    expect((await listServers(service)).map(({ name }) => name)).toEqual(['on']);
    const exported = await (await service.fetch('/api/config.yaml')).text();
    expect(parse(exported).mcpServers).toEqual(mcpServers);
  });
});
