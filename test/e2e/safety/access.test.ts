import { describe, expect } from 'vitest';
import { parseEnvelope } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { handshake, type RawResponse, rawExchange, rawRequest } from '../../support/sockets/raw-http.ts';
import { listServers } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const APP = 'https://app.example.com';
const EVIL = 'https://evil.example';
const JSON_HEADERS = { 'Content-Type': 'application/json' };

function start(more: object = {}): Promise<RunningService> {
  const agent = { llm: { provider: 'scripted', model: 'offline' }, limits: { requestsPerMinute: false } };
  return RunningService.start({ yaml: JSON.stringify({ ...agent, ...more }) });
}

function expectForbidden({ status, text }: RawResponse, field: string): void {
  expect({ status, text }).toEqual({ status: 403, text });
  expect(parseEnvelope(text)).toMatchObject({ code: 'FORBIDDEN', details: { field } });
}

/** Whether the handshake succeeds; the socket is closed again. */
async function upgradeStatus(port: number, headers: Record<string, string>): Promise<number> {
  const result = await handshake(port, headers);
  if (!result.accepted) return result.response.status;
  result.socket.destroy();
  return 101;
}

/** What a page elsewhere would want most: a process of its own on this machine. */
const startProcess = (headers: Record<string, string>) => ({
  method: 'POST',
  path: '/api/connect-server',
  headers: { ...JSON_HEADERS, ...headers },
  body: JSON.stringify({ name: 'planted', config: { type: 'stdio', command: 'touch', args: ['planted'] } }),
});

describe('the Host header', () => {
  verifies('access.host', async () => {
    await using service = await start();
    for (const host of [
      'evil.example',
      `evil.example:${service.port}`,
      'localhost.evil.example',
      '10.0.0.1',
    ]) {
      for (const path of ['/api/health', '/healthz', '/api/config.yaml', '/'])
        expectForbidden(await rawRequest(service.port, { path, headers: { Host: host } }), 'Host');
      expectForbidden(await rawRequest(service.port, startProcess({ Host: host })), 'Host');
      const preflight = { method: 'OPTIONS', path: '/api/reset', headers: { Host: host } };
      expectForbidden(await rawRequest(service.port, preflight), 'Host');
      const upgrade = await handshake(service.port, { Host: host });
      if (upgrade.accepted) throw new Error(`${host} got a WebSocket`);
      expectForbidden(upgrade.response, 'Host');
    }
    expect(await listServers(service)).toEqual([]);
  });

  verifies('access.host', 'the names of this machine are its own', async () => {
    await using service = await start();
    const { port } = service;
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `LOCALHOST:${port}`,
      `[::1]:${port}`,
      'localhost',
    ]) {
      const { status } = await rawRequest(port, { path: '/api/health', headers: { Host: host } });
      expect({ host, status }).toEqual({ host, status: 200 });
      expect(await upgradeStatus(port, { Host: host })).toBe(101);
    }
  });

  verifies('access.host', 'server.allowedHosts adds names', async () => {
    await using service = await start({ server: { allowedHosts: ['agent.example.com'] } });
    const get = (host: string) => rawRequest(service.port, { path: '/api/health', headers: { Host: host } });
    expect((await get('agent.example.com')).status).toBe(200);
    expect((await get('Agent.Example.com:8443')).status).toBe(200);
    expectForbidden(await get('www.agent.example.com'), 'Host');
  });

  verifies('access.host', 'none at all, an empty one, or two of them are refused', async () => {
    await using service = await start();
    const request = (headers: string) => `GET /api/health HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`;
    expect(await rawExchange(service.port, request('Host: localhost\r\n'))).toMatch(/^HTTP\/1\.1 200 /);
    expect(await rawExchange(service.port, request(''))).not.toMatch(/^HTTP\/1\.1 2/);
    expect(await rawExchange(service.port, request('Host: \r\n'))).toMatch(/^HTTP\/1\.1 403 /);
    const twice = await rawExchange(service.port, request('Host: localhost\r\nHost: evil.example\r\n'));
    expect(twice).toMatch(/^HTTP\/1\.1 403 /);
  });
});

describe('the Origin header', () => {
  verifies('access.origin', async () => {
    await using service = await start();
    const { port } = service;
    for (const origin of [
      EVIL,
      'null',
      `http://127.0.0.1:${port + 1}`,
      'http://localhost',
      `http://127.0.0.1:${port}.evil.example`,
    ]) {
      expectForbidden(await rawRequest(port, startProcess({ Origin: origin })), 'Origin');
      const headers = { ...JSON_HEADERS, Origin: origin };
      for (const path of ['/api/message-sync', '/api/message', '/api/reset'])
        expectForbidden(await rawRequest(port, { method: 'POST', path, headers, body: '{}' }), 'Origin');
      const remove = { method: 'DELETE', path: '/api/mcp/servers/tools', headers };
      expectForbidden(await rawRequest(port, remove), 'Origin');
      const upgrade = await handshake(port, { Origin: origin });
      if (upgrade.accepted) throw new Error(`${origin} got a WebSocket`);
      expectForbidden(upgrade.response, 'Origin');
    }
    expect(await listServers(service)).toEqual([]);
  });

  verifies('access.origin', 'a form or a simple request is no way round it', async () => {
    await using service = await start();
    const headers = { Origin: EVIL, 'Content-Type': 'text/plain' };
    const form = { method: 'POST', path: '/api/reset', headers, body: '{}' };
    expectForbidden(await rawRequest(service.port, form), 'Origin');
    const withoutBody = { method: 'POST', path: '/api/reset', headers: { Origin: EVIL } };
    expectForbidden(await rawRequest(service.port, withoutBody), 'Origin');
  });

  verifies('access.origin', 'no Origin, the same origin and configured ones are welcome', async () => {
    await using service = await start({ cors: { origins: [APP] } });
    const { port } = service;
    const own = `http://localhost:${port}`;
    const pages: Record<string, string>[] = [{}, { Origin: own, Host: `localhost:${port}` }, { Origin: APP }];
    for (const headers of pages) {
      const request = { method: 'POST', path: '/api/reset', headers };
      expect((await rawRequest(port, request)).status).toBe(200);
      expect(await upgradeStatus(port, headers)).toBe(101);
    }
    const headers = { Origin: EVIL };
    expectForbidden(await rawRequest(port, { method: 'POST', path: '/api/reset', headers }), 'Origin');
    expect(await upgradeStatus(port, headers)).toBe(403);
  });
});

describe('credentials', () => {
  verifies('access.none', async () => {
    await using service = await start();
    for (const headers of [{}, { Authorization: 'Bearer nonsense' }, { Cookie: 'session=nonsense' }]) {
      const health = await service.fetch('/api/health', { headers });
      expect(health.status).toBe(200);
      expect(health.headers.get('WWW-Authenticate')).toBeNull();
      const reply = await service.post('/api/message-sync', { message: 'hello' }, headers);
      expect(reply.status).toBe(200);
      expect(await upgradeStatus(service.port, headers)).toBe(101);
    }
    using client = await service.connect('?token=nonsense');
    client.say('hello');
    expect((await client.settled()).at(-1)?.event).toBe('response');
  });
});

const corsHeaders = ({ headers }: RawResponse) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

const preflight = (origin: string, path = '/api/message-sync') => ({
  method: 'OPTIONS',
  path,
  headers: {
    Origin: origin,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'content-type',
  },
});

describe('CORS', () => {
  verifies('cors.off', async () => {
    await using service = await start();
    const headers = { Origin: APP };
    const get = await rawRequest(service.port, { path: '/api/health', headers });
    expect(corsHeaders(get)).toEqual([]);
    const asked = await rawRequest(service.port, preflight(APP));
    expect(corsHeaders(asked)).toEqual([]);
    const posted = await rawRequest(service.port, { method: 'POST', path: '/api/reset', headers });
    expectForbidden(posted, 'Origin');
    expect(corsHeaders(posted)).toEqual([]);
  });

  verifies('cors.on', async () => {
    await using service = await start({ cors: { origins: [APP] } });
    const asked = await rawRequest(service.port, preflight(APP));
    expect(asked.status).toBe(204);
    expect(asked.text).toBe('');
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS',
      'access-control-allow-headers':
        'Content-Type, Authorization, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID, A2A-Version',
      'access-control-max-age': '86400',
      vary: 'Origin',
    });
    const posted = await rawRequest(service.port, {
      method: 'POST',
      path: '/api/message-sync',
      headers: { ...JSON_HEADERS, Origin: APP },
      body: '{"message":"hello"}',
    });
    expect(posted.status).toBe(200);
    expect(posted.headers).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-expose-headers': expect.stringMatching(/X-RateLimit-Remaining.*WWW-Authenticate/),
      vary: 'Origin',
    });
    // What an answer depends on besides is said, too: caches may keep it.
    const index = await rawRequest(service.port, { path: '/', headers: { Origin: APP } });
    expect(index.headers.vary).toBe('Accept, Origin');
  });

  verifies('cors.on', 'a page can read errors too', async () => {
    await using service = await start({ cors: { origins: [APP] }, limits: { requestsPerMinute: 1 } });
    const headers = { Origin: APP };
    const wrong = { method: 'POST', path: '/api/message-sync', headers };
    const answers = [await rawRequest(service.port, wrong), await rawRequest(service.port, wrong)];
    expect(answers.map(({ status }) => status)).toEqual([400, 429]);
    for (const answer of answers) expect(answer.headers['access-control-allow-origin']).toBe(APP);
  });

  verifies('cors.on', 'other origins get none', async () => {
    await using service = await start({ cors: { origins: [APP] } });
    for (const origin of [EVIL, 'null', 'http://app.example.com', `${APP}:8443`, `${APP}.evil.example`]) {
      const asked = await rawRequest(service.port, preflight(origin));
      expect(corsHeaders(asked)).toEqual([]);
      const get = await rawRequest(service.port, { path: '/api/health', headers: { Origin: origin } });
      expect(corsHeaders(get)).toEqual([]);
      // A cache must not give this answer to the page that is allowed.
      expect(get.headers.vary).toBe('Origin');
    }
  });

  verifies('cors.on', 'as configured, also for every page', async () => {
    const cors = { origins: ['*'], methods: ['GET', 'POST'], headers: ['X-Own'], maxAgeSeconds: 5 };
    await using service = await start({ cors });
    const asked = await rawRequest(service.port, preflight(EVIL));
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': EVIL,
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'X-Own',
      'access-control-max-age': '5',
    });
    expect(asked.headers['access-control-allow-credentials']).toBeUndefined();
  });
});

describe('X-Content-Type-Options', () => {
  verifies('headers.nosniff', async () => {
    await using service = await start();
    const json = { method: 'POST', headers: JSON_HEADERS };
    const requests: readonly (readonly [path: string, init?: RequestInit])[] = [
      ['/'],
      ['/', { headers: { Accept: 'text/html' } }],
      ['/docs'],
      ['/openapi.json'],
      ['/asyncapi.json'],
      ['/api/health'],
      ['/api/health', { method: 'HEAD' }],
      ['/api/health', { method: 'OPTIONS' }],
      ['/api/config.yaml'],
      ['/healthz'],
      ['/readyz'],
      ['/metrics'],
      ['/nothing'],
      ['/api/message-sync', { ...json, body: '{"message":"hi","sessionId":"s"}' }],
      ['/api/message-sync', { ...json, body: '{' }],
      ['/api/sessions/s/events', { headers: { Accept: 'text/event-stream' } }],
      ['/api/sessions/s', { method: 'DELETE' }],
      ['/mcp', { ...json, body: '{}' }],
    ];
    for (const [path, init] of requests) {
      const response = await service.fetch(path, init);
      await response.body?.cancel();
      const { status, headers } = response;
      expect({ path, status, nosniff: headers.get('X-Content-Type-Options') }).toEqual({
        path,
        status,
        nosniff: 'nosniff',
      });
    }
    const foreign = await handshake(service.port, { Origin: EVIL });
    if (foreign.accepted) throw new Error('a foreign page was let in');
    expect(foreign.response.headers['x-content-type-options']).toBe('nosniff');
    for (const path of ['/', '/docs']) {
      const page = await service.fetch(path, { headers: { Accept: 'text/html' } });
      expect(page.headers.get('Content-Security-Policy')).toContain("default-src 'none'");
      await page.body?.cancel();
    }
  });
});
