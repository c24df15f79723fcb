import { describe, expect } from 'vitest';
import { filesWith } from '../../support/service/files-with.ts';
import { RunningService, type ServiceOptions } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { redirectOf } from '../../support/tools/mcp/authorization-visit.ts';
import { type AuthorizingServer, authorizingServer } from '../../support/tools/mcp/authorizing-server.ts';
import { RecordingLog } from '../../support/tools/mcp/recording-log.ts';
import { listServers, serverWith, toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

function start(mcpServers: object, options: ServiceOptions = {}): Promise<RunningService> {
  const llm = { provider: 'scripted', model: 'offline' };
  const yaml = JSON.stringify({ llm, mcpServers, limits: { requestsPerMinute: false } });
  return RunningService.start({ yaml, ...options });
}

const at = ({ url }: AuthorizingServer) => ({ type: 'http', baseUrl: url });

/** Where the browser of a person who agrees comes back to. */
async function agree(service: RunningService, name: string): Promise<URL> {
  const { details } = await serverWith(service, name, 'error');
  return await redirectOf(details?.authorizationUrl ?? 'none');
}

async function pageAt(url: URL | string): Promise<{ status: number; text: string }> {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
}

describe('a tool server that asks for OAuth', () => {
  verifies('servers.oauth', async () => {
    await using server = await authorizingServer();
    await using directory = await tempDirectory();
    const options = { dataDir: directory.path };
    {
      await using service = await start({ tools: at(server) }, options);
      const back = await agree(service, 'tools');
      expect(`${back.origin}${back.pathname}`).toBe(`${service.url}/oauth/callback`);
      expect(await pageAt(back)).toEqual({
        status: 200,
        text: expect.stringContaining('The tool server tools is connected.'),
      });
      expect(await listServers(service)).toEqual([
        { id: 'tools', name: 'tools', status: 'connected', type: 'http' },
      ]);
      expect(await toolText(service, 'tools', 'echo', { message: 'hello' })).toBe('hello');
    }
    {
      await using service = await start({ tools: at(server) }, options);
      await serverWith(service, 'tools', 'connected');
    }
    expect(server.tokenRequests).toHaveLength(1);
    for (const secret of server.secrets) expect(await filesWith(directory.path, secret)).toEqual([]);
  });

  verifies('servers.oauth', 'connect-server names the address', async () => {
    await using server = await authorizingServer();
    await using service = await start({});
    const response = await service.post('/api/connect-server', { name: 'tools', config: at(server) });
    expect(response.status).toBe(500);
    const { details } = await serverWith(service, 'tools', 'error');
    expect(details?.authorizationUrl).toContain('/authorize?');
    expect(await response.json()).toMatchObject({ error: { code: 'AGENT_ERROR', details } });
    await pageAt(await agree(service, 'tools'));
    await serverWith(service, 'tools', 'connected');
  });

  verifies('servers.oauth', 'browsers come back to server.publicUrl', async () => {
    await using server = await authorizingServer();
    const yaml = JSON.stringify({
      llm: { provider: 'scripted', model: 'offline' },
      mcpServers: { tools: at(server) },
      server: { publicUrl: 'https://agent.example.com/' },
    });
    await using service = await RunningService.start({ yaml });
    const back = await agree(service, 'tools');
    expect(`${back.origin}${back.pathname}`).toBe('https://agent.example.com/oauth/callback');
  });

  verifies('servers.oauth-refused', async () => {
    await using server = await authorizingServer({ iss: 'https://evil.example.com' });
    await using service = await start({ tools: at(server) });
    const unknown = await fetch(`${service.url}/oauth/callback?state=unknown&code=<b>`);
    expect(unknown.status).toBe(400);
    expect(unknown.headers.get('content-type')).toContain('text/html');
    expect(unknown.headers.get('referrer-policy')).toBe('no-referrer');
    expect(await unknown.text()).toContain('unknown, was used already or is too old');
    expect((await pageAt(`${service.url}/oauth/callback`)).status).toBe(400);

    const first = (await serverWith(service, 'tools', 'error')).details?.authorizationUrl;
    const back = await agree(service, 'tools');
    const refused = await pageAt(back);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('came from another authorization server');
    expect(refused.text).not.toContain(back.searchParams.get('code'));
    expect(await pageAt(back)).toMatchObject({ status: 400 });
    const next = (await serverWith(service, 'tools', 'error')).details?.authorizationUrl;
    expect(next).toContain('/authorize?');
    expect(next).not.toBe(first);
  });

  verifies('servers.oauth-forgotten', async () => {
    await using server = await authorizingServer();
    await using directory = await tempDirectory();
    await using service = await start({ tools: at(server) }, { dataDir: directory.path });
    await pageAt(await agree(service, 'tools'));
    await serverWith(service, 'tools', 'connected');
    expect(await filesWith(directory.path, '~server-oauth:tools/')).not.toEqual([]);
    await service.fetch('/api/mcp/servers/tools', { method: 'DELETE' });
    expect(await filesWith(directory.path, '~server-oauth:tools/')).toEqual([]);
    expect((await service.post('/api/mcp/servers/tools/reconnect')).status).toBe(500);
    const { details } = await serverWith(service, 'tools', 'error');
    expect(details?.authorizationUrl).toContain('/authorize?');
  });

  verifies('servers.oauth-secrets', async () => {
    await using server = await authorizingServer();
    const clientSecret = 'sekrit-4711';
    const oauth = { clientId: 'agent', clientSecret, scopes: ['read'] };
    const log = new RecordingLog();
    await using service = await start({ tools: { ...at(server), oauth } }, { log });
    await pageAt(await agree(service, 'tools'));
    await serverWith(service, 'tools', 'connected');
    server.revoke();
    await toolText(service, 'tools', 'echo', { message: 'hello' }).catch(() => undefined);
    await serverWith(service, 'tools', 'error');
    const paths = ['/api/mcp/servers', '/api/config.yaml', '/api/statecharts', '/api/mcp/servers/tools/logs'];
    const answers = await Promise.all(paths.map(async (path) => (await service.fetch(path)).text()));
    expect(answers[1]).toContain('clientId: agent');
    const told = [...answers, JSON.stringify(log.lines)].join('\n');
    expect(server.secrets.length).toBeGreaterThan(2);
    for (const secret of [clientSecret, ...server.secrets]) expect(told).not.toContain(secret);
  });
});
