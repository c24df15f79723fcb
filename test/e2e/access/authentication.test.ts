import { describe, expect } from 'vitest';
import { z } from 'zod';
import { formatApiKey, generateApiKey } from '../../../src/core/access/api-key.ts';
import { CreateKeyResponse } from '../../../src/wire/api-keys.ts';
import { bearer, identity, KnownTokens, only } from '../../support/access/known-tokens.ts';
import { parseEnvelope } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { rawRequest } from '../../support/sockets/raw-http.ts';
import { connectClient } from '../../support/sockets/websocket-client.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline', script: [{ when: '([^]*)', reply: 'you said $1' }] },
  limits: { requestsPerMinute: false, connectionsPerAddress: false },
});

const Ticket = z.object({ ticket: z.string(), expiresAt: z.string(), timestamp: z.string() });

function start(tokens: KnownTokens): Promise<RunningService> {
  return RunningService.start({ yaml: YAML, verifiers: [tokens] });
}

const people = () => new KnownTokens({ ada: identity('ada'), bob: identity('bob') });

async function ticketOf(service: RunningService, name: string): Promise<string> {
  const answer = await service.post('/api/tickets', {}, bearer(name));
  expect(answer.status).toBe(200);
  return Ticket.parse(await answer.json()).ticket;
}

async function refusal(answer: Response) {
  expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Bearer/);
  return { status: answer.status, ...parseEnvelope(await answer.text()) };
}

describe('a service that authenticates its clients', () => {
  verifies('auth.token', async () => {
    await using service = await start(people());
    const say = (headers: Record<string, string>) =>
      service.post('/api/message-sync', { message: 'hello' }, headers);
    expect((await say(bearer('ada'))).status).toBe(200);
    expect((await say({ authorization: 'bearer  test-ada' })).status).toBe(200);
    expect(await refusal(await say({}))).toMatchObject({ status: 401, details: { reason: 'missing' } });
    expect(await refusal(await say(bearer('eve')))).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    for (const header of ['Basic YWRhOmFkYQ==', 'Bearer', 'Bearer a b', 'test-ada']) {
      const refused = await say({ Authorization: header });
      expect(await refusal(refused)).toMatchObject({ status: 401, details: { reason: 'malformed' } });
    }
  });

  verifies('auth.token', 'other protocols say so in whole sentences', async () => {
    await using service = await start(people());
    const Answer = z.object({ error: z.object({ message: z.string() }) });
    for (const [method, path] of [
      ['GET', '/v1/models'],
      ['GET', '/a2a/tasks'],
      ['POST', '/a2a'],
    ] as const) {
      const answer = await service.fetch(path, { method });
      expect(Answer.parse(await answer.json()).error.message).toMatch(
        /^The request has no credentials\. Send the header /,
      );
    }
  });

  verifies('access.host', 'a header that is no host is refused, and not left without an answer', async () => {
    await using service = await start(people());
    for (const host of ['localhost:99999', 'user@localhost', 'localhost/x', '[::1', 'a<b'])
      for (const path of ['/mcp', '/api/health']) {
        const { status } = await rawRequest(service.port, { path, headers: { Host: host } });
        expect([400, 403], `${host} at ${path}`).toContain(status);
      }
  });

  verifies('auth.open', async () => {
    await using service = await start(people());
    const status = async (path: string) => (await service.fetch(path)).status;
    for (const path of ['/healthz', '/readyz', '/', '/docs', '/openapi.json', '/asyncapi.json'])
      expect([path, await status(path)]).toEqual([path, 200]);
    for (const path of ['/api/health', '/api/agent', '/api/sessions', '/metrics', '/metrics/samples', '/mcp'])
      expect([path, await status(path)]).toEqual([path, 401]);
  });

  verifies('auth.isolation', 'how much all tenants do is for who may read metrics', async () => {
    const seer = identity('seer', { scopes: only('metrics:read') });
    await using service = await start(new KnownTokens({ ada: identity('ada'), seer }));
    const health = async (name: string): Promise<unknown> =>
      (await service.fetch('/api/health', { headers: bearer(name) })).json();
    expect(await health('ada')).not.toHaveProperty('log');
    expect(await health('seer')).toHaveProperty('log.events');
  });

  verifies('auth.revoked', 'so are the tickets that it got', async () => {
    await using service = await start(people());
    const [adas, bobs] = [await ticketOf(service, 'ada'), await ticketOf(service, 'bob')];
    service.access?.revoke('credential-of-ada');
    const open = (ticket: string) => service.fetch(`/api/health?ticket=${ticket}`);
    expect(await refusal(await open(adas))).toMatchObject({ details: { reason: 'ticket not valid' } });
    expect((await open(bobs)).status).toBe(200);
  });

  verifies('auth.open', 'in mcp mode, with what an MCP client looks for', async () => {
    await using service = await RunningService.start({ yaml: YAML, mode: 'mcp', verifiers: [people()] });
    const metadata = await service.fetch('/.well-known/oauth-protected-resource/mcp');
    expect(await metadata.json()).toMatchObject({ resource: `${service.url}/mcp` });
    expect((await service.fetch('/healthz')).status).toBe(200);
    const refused = await service.fetch('/mcp', { method: 'POST' });
    expect(refused.headers.get('WWW-Authenticate')).toBe(
      `Bearer resource_metadata="${service.url}/.well-known/oauth-protected-resource/mcp"`,
    );
    expect((await service.post('/api/tickets', {}, bearer('ada'))).status).toBe(400);
  });

  verifies('auth.url', async () => {
    await using service = await start(people());
    for (const name of ['token', 'access_token', 'api_key']) {
      const answer = await service.fetch(`/api/sessions?${name}=test-ada`);
      const { status, message, details } = await refusal(answer);
      expect(status).toBe(401);
      expect(details).toMatchObject({ reason: 'token in the URL', field: name });
      expect(JSON.stringify({ message, details })).not.toContain('test-ada');
    }
    await expect(service.connect('?token=test-ada')).rejects.toThrow('no connection');
    const beside = await refusal(
      await service.fetch('/api/sessions?token=test-ada', { headers: bearer('ada') }),
    );
    expect(beside).toMatchObject({ status: 401, details: { reason: 'token in the URL', field: 'token' } });
    const withTicket = `/?key=test-ada&ticket=${await ticketOf(service, 'ada')}`;
    expect(
      await refusal(await service.fetch(withTicket, { headers: { Accept: 'application/json' } })),
    ).toMatchObject({
      status: 401,
      details: { reason: 'token in the URL', field: 'key' },
    });
  });

  verifies('auth.url', 'an error shows none that stands where a name belongs', async () => {
    await using service = await start(people());
    const key = formatApiKey(generateApiKey());
    const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl';
    for (const token of [key, jwt]) {
      for (const path of [`/api/${token}`, `/api/sessions/${token}`, `/agents/${token}/api/health`]) {
        const answer = await (await service.fetch(path, { headers: bearer('ada') })).text();
        expect(answer).toContain('[token]');
        expect(answer).not.toContain(token);
      }
      using client = await service.connect(`?ticket=${await ticketOf(service, 'ada')}`);
      client.send({ type: token });
      const frames = await client.until((heard) => heard.some(({ event }) => event === 'error'));
      expect(JSON.stringify(frames)).toContain('[token]');
      expect(JSON.stringify(frames)).not.toContain(token);
    }
  });

  verifies('auth.ticket', async () => {
    await using service = await start(people());
    const ticket = await ticketOf(service, 'ada');
    using client = await service.connect(`?ticket=${ticket}`);
    client.say('hello');
    expect((await client.settled()).at(-1)).toEqual({
      event: 'response',
      data: { content: 'you said hello' },
    });
    await expect(service.connect(`?ticket=${ticket}`)).rejects.toThrow('no connection');
    const events = await service.fetch(
      `/api/sessions/default/events?ticket=${await ticketOf(service, 'ada')}`,
      { headers: { Accept: 'text/event-stream' } },
    );
    expect(events.status).toBe(200);
    await events.body?.cancel();
    expect(await refusal(await service.post('/api/tickets'))).toMatchObject({ status: 401 });
  });

  verifies('auth.revoked', async () => {
    await using service = await start(people());
    using client = await service.connect(`?ticket=${await ticketOf(service, 'ada')}`);
    using other = await service.connect(`?ticket=${await ticketOf(service, 'bob')}`);
    service.access?.revoke('credential-of-ada');
    expect(await client.closed).toMatchObject({ code: 4401, reason: 'revoked' });
    expect(client.frames).toMatchObject([
      { event: 'error', data: { code: 'UNAUTHORIZED', details: { reason: 'revoked' } } },
    ]);
    other.say('still here');
    expect((await other.settled()).at(-1)).toMatchObject({ data: { content: 'you said still here' } });
  });

  verifies('auth.revoked', 'an API key, by an admin', async () => {
    await using service = await RunningService.start({ yaml: YAML, apiKeys: true });
    const created = await service.post('/api/keys', { name: 'ci', roles: ['user'] });
    const { key, keyId } = CreateKeyResponse.parse(await created.json());
    const headers = { Authorization: `Bearer ${key}` };
    const { ticket } = Ticket.parse(await (await service.post('/api/tickets', {}, headers)).json());
    using client = await service.connect(`?ticket=${ticket}`);
    client.say('hello');
    await client.settled();
    expect((await service.fetch(`/api/keys/${keyId}`, { method: 'DELETE' })).status).toBe(200);
    expect(await client.closed).toMatchObject({ code: 4401, reason: 'revoked' });
    const refused = await refusal(await service.fetch('/api/sessions', { headers }));
    expect(refused).toMatchObject({ status: 401, details: { reason: 'revoked' } });
  });

  verifies('auth.expired', async () => {
    const soon = Date.now() + 1_500;
    const tokens = new KnownTokens({
      ada: identity('ada', { expiresAt: soon }),
      bob: identity('bob'),
      eve: identity('eve'),
    });
    tokens.identities.set('test-ada-later', identity('ada'));
    await using service = await start(tokens);
    using ends = await service.connect(`?ticket=${await ticketOf(service, 'ada')}`);
    using goesOn = await service.connect(`?ticket=${await ticketOf(service, 'ada')}`);
    const stream = await service.fetch('/api/sessions/default/events', {
      headers: { ...bearer('ada'), Accept: 'text/event-stream' },
    });
    goesOn.send({ type: 'auth', token: 'test-eve' });
    await goesOn.until((frames) => frames.length === 1);
    expect(goesOn.frames[0]).toMatchObject({ event: 'error', data: { code: 'FORBIDDEN' } });
    goesOn.send({ type: 'auth', token: 'test-ada-later' });
    expect(await ends.closed).toMatchObject({ code: 4401, reason: 'expired' });
    expect(await stream.text()).toMatch(/event: error\ndata: .*"UNAUTHORIZED".*"expired"/);
    goesOn.say('still here');
    expect((await goesOn.settled(2)).at(-1)).toMatchObject({ data: { content: 'you said still here' } });
  });

  verifies(
    'auth.expired',
    'a token that may not read the session is refused, and closing the socket harms nobody',
    async () => {
      const tokens = new KnownTokens({ root: identity('root', { roles: ['admin'] }) });
      tokens.identities.set('test-root-less', identity('root'));
      tokens.identities.set('test-root-blind', identity('root', { scopes: only('metrics:read') }));
      await using service = await start(tokens);
      const others = `session=${encodeURIComponent('acme/test:ada/default')}`;
      for (const [session, token] of [
        [others, 'test-root-less'],
        ['session=default', 'test-root-blind'],
      ] as const) {
        using client = await service.connect(`?${session}&ticket=${await ticketOf(service, 'root')}`);
        client.send({ type: 'auth', token });
        await client.until((frames) => frames.length === 1);
        expect(client.frames[0]).toMatchObject({ event: 'error' });
        client.close();
        await client.closed;
      }
      expect((await service.fetch('/readyz')).status).toBe(200);
    },
  );

  verifies('auth.revoked', 'its tickets are worth nothing any more', async () => {
    await using service = await start(people());
    const ticket = await ticketOf(service, 'ada');
    const others = await ticketOf(service, 'bob');
    service.access?.revoke('credential-of-ada');
    expect((await service.fetch(`/api/sessions?ticket=${ticket}`)).status).toBe(401);
    expect((await service.fetch(`/api/sessions?ticket=${others}`)).status).toBe(200);
  });

  verifies('auth.ticket', 'it changes nothing, and gives no other ticket', async () => {
    await using service = await start(people());
    const ticket = await ticketOf(service, 'ada');
    const refused = await service.post(`/api/tickets?ticket=${ticket}`);
    expect(await refusal(refused)).toMatchObject({ status: 401, details: { reason: 'ticket not usable' } });
    const sent = await service.post(`/api/message-sync?ticket=${ticket}`, { message: 'hello' });
    expect(sent.status).toBe(401);
    using _client = await service.connect(`?ticket=${ticket}`);
  });

  verifies('auth.guess', async () => {
    await using service = await start(people());
    const guess = (token: string) =>
      service.fetch('/api/sessions', { headers: { Authorization: `Bearer ${token}` } });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 22; attempt += 1)
      statuses.push((await guess(`test-guess${attempt}`)).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.slice(20)).toEqual([429, 429]);
    expect((await guess('test-ada')).status).toBe(200);
  });

  verifies('auth.off-frame', async () => {
    await using service = await RunningService.start({ yaml: YAML });
    using client = await connectClient(`ws://127.0.0.1:${service.port}/`);
    client.send({ type: 'auth', token: 'x' });
    await client.until((frames) => frames.length === 1);
    expect(client.frames[0]).toMatchObject({ event: 'error', data: { code: 'INVALID_MESSAGE_TYPE' } });
  });
});
