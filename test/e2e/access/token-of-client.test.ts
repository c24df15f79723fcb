import { describe, expect } from 'vitest';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import type { RunningService } from '../../support/service/running-service.ts';
import { gatewayClient, startGateway } from '../../support/tools/gateway.ts';
import { type StreamableServer, streamableServer } from '../../support/tools/mcp/http-servers.ts';
import { verifies } from '../requirements.ts';

const HEADERS = bearer('ada');

/** The ways to the tool `meta`, which answers with what came beside its arguments. */
const WAYS: Readonly<Record<string, (service: RunningService) => Promise<unknown>>> = {
  'a call over REST': async (service) =>
    (await service.post('/api/mcp/servers/tools/tools/meta/execute', {}, HEADERS)).json(),
  'a call of the model': async (service) =>
    (await service.post('/api/message-sync', { message: 'use meta {}' }, HEADERS)).json(),
  'a call of an older MCP client': (service) => callMeta(service, 'legacy'),
  'a call of a newer MCP client': (service) => callMeta(service, 'modern'),
};

async function callMeta(service: RunningService, era: 'legacy' | 'modern'): Promise<unknown> {
  await using client = await gatewayClient(service.url, era, { headers: HEADERS });
  return await client.callTool({ name: 'meta' });
}

function start({ url }: StreamableServer): Promise<RunningService> {
  const operator = identity('ada', { roles: ['operator'] });
  const servers = { tools: { type: 'http', baseUrl: url } };
  return startGateway(servers, { apiKeys: true, verifiers: [new KnownTokens({ ada: operator })] });
}

describe('the token of a client', () => {
  for (const [name, call] of Object.entries(WAYS))
    verifies('auth.tool-servers', name, async () => {
      await using tools = await streamableServer();
      await using service = await start(tools);
      const before = tools.requests.length;
      const answer = await call(service);
      expect(answer).not.toHaveProperty('error');
      expect(tools.requests.length).toBeGreaterThan(before);
      expect(JSON.stringify([answer, tools.requests])).not.toContain('test-ada');
    });
});
