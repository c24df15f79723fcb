import { describe, expect, it } from 'vitest';
import { ANYONE, contextOf, type RequestContext } from '../../../src/core/request/request-context.ts';
import type { ServedRequest } from '../../../src/gateway/http/http-message.ts';
import { Router } from '../../../src/gateway/http/router.ts';
import { healthRoutes } from '../../../src/gateway/routes/health-routes.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { HealthResponse } from '../../../src/wire/responses.ts';
import { identity, only } from '../../support/access/known-tokens.ts';

const WARNING = 'approval.rules[0] matches none of the 2 tools of files: read, write.';

/** What `/api/health` says to a client of a service that has something to warn of. */
async function health(context: RequestContext): Promise<HealthResponse> {
  const bus = new LocalBus(() => undefined);
  bus.handle('mcp-server.list', async () => []);
  bus.handle('warning.list', async () => [WARNING]);
  bus.handle('log.size', async () => ({ databaseBytes: 4_096, walBytes: 1_000, events: 7 }));
  const routes = healthRoutes({
    bus,
    identity: () => ({ name: 'a' }),
    version: '0.0.0',
    uptime: () => 1,
    isSecured: true,
  });
  const request: ServedRequest = {
    method: 'GET',
    path: '/api/health',
    context,
    query: '',
    peerAddress: '127.0.0.1',
    headers: new Map(),
    body: async () => new Uint8Array(),
  };
  const { route, parameters } = new Router(routes).find(request);
  const { body } = await route.handler(request, parameters);
  return HealthResponse.parse(JSON.parse(String(body)));
}

const holding = (...scopes: Parameters<typeof only>) =>
  health(contextOf(identity('ada', { scopes: only(...scopes) })));

describe('/api/health', () => {
  it('warns whoever may see the tool servers, because warnings name them', async () => {
    expect((await holding('servers:read')).warnings).toEqual([WARNING]);
    expect(await holding('sessions:read')).not.toHaveProperty('warnings');
  });

  it('tells the size of the log to whoever may read metrics', async () => {
    expect((await holding('metrics:read')).log).toEqual({ bytes: 5_096, events: 7 });
    expect(await holding('servers:read')).not.toHaveProperty('log');
  });

  it('tells everybody everything where clients are not authenticated', async () => {
    const { warnings, log } = await health(ANYONE);
    expect({ warnings, log }).toEqual({ warnings: [WARNING], log: { bytes: 5_096, events: 7 } });
  });
});
