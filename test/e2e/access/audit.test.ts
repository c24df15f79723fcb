import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { AuditEntry } from '../../../src/core/access/audit-entry.ts';
import { GrantResponse } from '../../../src/wire/grants.ts';
import { TicketResponse } from '../../../src/wire/responses.ts';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { filesWith } from '../../support/service/files-with.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { INITIALIZE, postMcp } from '../../support/tools/mcp-http.ts';
import { verifies } from '../requirements.ts';

const tokens = () =>
  new KnownTokens({
    ada: identity('ada'),
    root: identity('root', { roles: ['admin'] }),
    boss: identity('boss', { tenant: 'orbit', roles: ['admin'] }),
    lean: identity('lean', { scopes: new Set() }),
  });

const parse = (text: string): AuditEntry[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Without what differs from run to run. */
const shown = ({ time: _, ...entry }: AuditEntry) => entry;

async function start(options: object = {}) {
  const service = await RunningService.start({ verifiers: [tokens()], ...options });
  const ask = (who: string, method: string, path: string, body?: object): Promise<Response> =>
    service.fetch(path, {
      method,
      headers: { ...bearer(who), 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const auditOf = async (who: string, query = '') =>
    parse(await (await ask(who, 'GET', `/api/audit${query}`)).text());
  return { service, ask, auditOf, [Symbol.asyncDispose]: () => service.close() };
}

describe('the audit trail', () => {
  verifies('audit.entries', 'of who uses a ticket: the address is that of the use', async () => {
    await using setup = await start();
    const { ticket } = TicketResponse.parse(await (await setup.ask('ada', 'POST', '/api/tickets')).json());
    const path = `/api/sessions/acme%2Ftest:root%2Fx?ticket=${ticket}`;
    const used = get({ host: '127.0.0.1', localAddress: '127.0.0.9', port: setup.service.port, path });
    const [response]: IncomingMessage[] = await once(used, 'response');
    response?.resume();
    expect(response?.statusCode).toBe(404);
    expect((await setup.auditOf('root')).map(shown)).toMatchObject([
      { what: 'session.view', outcome: 'SESSION_NOT_FOUND', address: '127.0.0.9' },
    ]);
  });

  verifies('audit.entries', async () => {
    await using setup = await start();
    const { ask, auditOf, service } = setup;
    await ask('ada', 'POST', '/api/message-sync', { message: 'a secret word' });
    await ask('ada', 'GET', '/api/sessions/acme%2Ftest:root%2Fx');
    await ask('ada', 'GET', '/api/audit');
    await ask('ada', 'GET', '/api/config.yaml');
    await ask('root', 'GET', '/api/sessions/acme%2Ftest:ada%2Fdefault');
    await ask('root', 'DELETE', '/api/sessions/acme%2Ftest:ada%2Fdefault');
    await service.fetch('/api/sessions', { headers: { Authorization: 'Bearer guessed-token' } });
    const ada = {
      principal: 'test:ada',
      tenant: 'acme',
      credential: 'credential-of-ada',
      address: '127.0.0.1',
    };
    const root = {
      principal: 'test:root',
      tenant: 'acme',
      credential: 'credential-of-root',
      address: '127.0.0.1',
    };
    const entries = (await auditOf('root')).map(shown);
    expect(entries).toEqual([
      { ...ada, what: 'turn.start', sessionId: 'acme/test:ada/default', outcome: 'ok' },
      { ...ada, what: 'session.view', sessionId: 'acme/test:root/x', outcome: 'SESSION_NOT_FOUND' },
      { ...ada, what: 'GET /api/audit', outcome: 'FORBIDDEN', reason: 'admin' },
      { ...ada, what: 'GET /api/config.yaml', outcome: 'FORBIDDEN', reason: 'config:read' },
      { ...root, what: 'session.view', sessionId: 'acme/test:ada/default', outcome: 'ok' },
      { ...root, what: 'session.delete', sessionId: 'acme/test:ada/default', outcome: 'ok' },
    ]);
    expect(JSON.stringify(entries)).not.toContain('secret');
    // Of another tenant, one sees nothing.
    expect(await auditOf('boss')).toEqual([]);
    expect((await auditOf('root', '?principal=test:root')).map(({ what }) => what)).toEqual([
      'session.view',
      'session.delete',
      // Reading the trail is in the trail.
      'GET /api/audit',
    ]);
    expect(await auditOf('root', '?since=2100-01-01T00:00:00Z')).toEqual([]);
    expect(await auditOf('root', '?since=2100-01-01')).toEqual([]);
    expect((await ask('root', 'GET', '/api/audit?since=yesterday')).status).toBe(400);
  });

  verifies('audit.entries', 'a limit', async () => {
    await using setup = await start({ auth: { limits: { principal: { requestsPerMinute: 2 } } } });
    const { ask, auditOf } = setup;
    for (let count = 0; count < 4; count += 1) await ask('ada', 'GET', '/api/sessions');
    expect((await auditOf('root')).map(shown)).toMatchObject([
      {
        principal: 'test:ada',
        what: 'limit',
        outcome: 'RATE_LIMIT_EXCEEDED',
        reason: 'requestsPerMinute of the principal',
        count: 2,
      },
    ]);
  });

  verifies(
    'audit.entries',
    'what is refused at /mcp, to A2A, and to a socket that shows the token of somebody else',
    async () => {
      await using setup = await start();
      const { ask, auditOf, service } = setup;
      const chat = { name: 'chat_with_agent', arguments: { message: 'hi' } };
      const called = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: chat };
      expect((await postMcp(service.port, called, bearer('lean'))).status).toBe(403);
      const asked = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'a~b~c' } };
      const headers = { ...bearer('lean'), 'A2A-Version': '1.0', 'Content-Type': 'application/json' };
      await service.fetch('/a2a', { method: 'POST', headers, body: JSON.stringify(asked) });
      const { ticket } = TicketResponse.parse(await (await ask('ada', 'POST', '/api/tickets')).json());
      using socket = await service.connect(`?session=s&ticket=${ticket}`);
      socket.send({ type: 'auth', token: 'test-root' });
      await socket.until((frames) => frames.some(({ event }) => event === 'error'));
      const refused = (await auditOf('root')).filter(({ outcome }) => outcome === 'FORBIDDEN');
      expect(refused.map(({ principal, what, reason }) => ({ principal, what, reason }))).toEqual([
        { principal: 'test:lean', what: 'POST /mcp', reason: 'sessions:write' },
        { principal: 'test:lean', what: 'A2A GetTask', reason: 'sessions:read' },
        { principal: 'test:root', what: 'authenticate', reason: undefined },
      ]);
    },
  );

  verifies('audit.entries', 'the MCP session of somebody else', async () => {
    await using setup = await start();
    const { port } = setup.service;
    const began = await postMcp(port, INITIALIZE, bearer('ada'));
    const session = { 'Mcp-Session-Id': String(began.headers['mcp-session-id']) };
    const listed = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    const unknown = await postMcp(port, listed, { ...bearer('root'), 'Mcp-Session-Id': 'none' });
    const foreign = await postMcp(port, listed, { ...bearer('root'), ...session });
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
    expect((await postMcp(port, listed, { ...bearer('ada'), ...session })).status).toBe(200);
    const refused = (await setup.auditOf('root')).filter(({ what }) => what === 'POST /mcp');
    expect(refused.map(shown)).toMatchObject([
      {
        principal: 'test:root',
        outcome: 'SESSION_NOT_FOUND',
        reason: 'the MCP session of somebody else',
      },
    ]);
  });

  verifies('audit.command', async () => {
    await using folder = await tempDirectory();
    const dataDir = join(folder.path, 'data');
    {
      await using setup = await start({ dataDir });
      await setup.ask('ada', 'POST', '/api/message-sync', { message: 'hi' });
      await setup.service.fetch('/api/sessions', { headers: { Authorization: 'Bearer guessed-token' } });
    }
    const printed = async (...args: string[]) => {
      const { stdout, code, stderr } = await new ServiceProcess(['audit', '--data-dir', dataDir, ...args])
        .ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return parse(stdout).map(shown);
    };
    const refused = {
      what: 'authenticate',
      address: '127.0.0.1',
      outcome: 'UNAUTHORIZED',
      reason: 'malformed',
    };
    expect(await printed('--since', '24h')).toMatchObject([{ what: 'turn.start', outcome: 'ok' }, refused]);
    expect(await printed('--since', '1h', '--principal', 'test:ada')).toMatchObject([{ what: 'turn.start' }]);
    expect(await printed('--until', '2020-01-01')).toEqual([]);
    const wrong = await new ServiceProcess(['audit', '--data-dir', dataDir, '--since', 'soon']).ended;
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('--since') });
    for (const file of await readdir(dataDir))
      expect((await readFile(join(dataDir, file))).includes('guessed-token')).toBe(false);
  });

  verifies('audit.sockets', async () => {
    await using setup = await start();
    const { ask, auditOf, service } = setup;
    await ask('ada', 'POST', '/api/message-sync', { message: 'hi' });
    const open = (who: string, session: string) =>
      service.fetch(`/api/sessions/${encodeURIComponent(session)}/events`, {
        headers: { ...bearer(who), Accept: 'text/event-stream' },
        method: 'GET',
      });
    const streams = [
      await open('ada', 'default'),
      await open('root', 'acme/test:ada/default'),
      await open('boss', 'acme/test:ada/default'),
      await open('lean', 'default'),
    ];
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 404, 403]);
    await Promise.all(streams.map(({ body }) => body?.cancel()));
    const listened = async (who: string) =>
      (await auditOf(who))
        .filter(({ what }) => what !== 'turn.start')
        .map(({ principal, what, sessionId, outcome }) => ({ principal, what, sessionId, outcome }));
    const what = 'session.events';
    const sessionId = 'acme/test:ada/default';
    expect(await listened('root')).toEqual([
      { principal: 'test:root', what, sessionId, outcome: 'ok' },
      expect.objectContaining({ principal: 'test:lean', outcome: 'FORBIDDEN' }),
    ]);
    // Who tried is of this tenant; the session is not.
    expect(await listened('boss')).toEqual([
      { principal: 'test:boss', what, sessionId, outcome: 'SESSION_NOT_FOUND' },
    ]);
  });

  verifies('audit.sockets', 'and not again each time that somebody ends a grant', async () => {
    await using setup = await start();
    const { ask, auditOf, service } = setup;
    await ask('ada', 'POST', '/api/message-sync', { message: 'hi' });
    const session = encodeURIComponent('acme/test:ada/default');
    const stream = await service.fetch(`/api/sessions/${session}/events`, {
      headers: { ...bearer('root'), Accept: 'text/event-stream' },
    });
    const listened = async () => (await auditOf('root')).filter(({ what }) => what === 'session.events');
    const times = async () => (await listened()).reduce((sum, { count = 1 }) => sum + count, 0);
    const ofStream = await times();
    expect(ofStream).toBeGreaterThan(0);
    const { ticket } = TicketResponse.parse(await (await ask('root', 'POST', '/api/tickets')).json());
    using socket = await service.connect(`?session=${session}&ticket=${ticket}`);
    expect(await times()).toBe(ofStream + 1);
    const before = await listened();
    const grants = '/api/sessions/default/grants';
    const shared = await ask('ada', 'POST', grants, { principal: 'test:bob', access: 'read' });
    const { grant } = GrantResponse.parse(await shared.json());
    expect((await ask('ada', 'DELETE', `${grants}/${grant.grantId}`)).status).toBe(200);
    expect(await listened()).toEqual(before);
    expect(socket.frames).toEqual([]);
    await stream.body?.cancel();
  });

  verifies('audit.killed', async () => {
    await using folder = await tempDirectory();
    const keys = new ServiceProcess(['keys', 'create', '--name', 'boss', '--role', 'admin'], {
      cwd: folder.path,
    });
    const key = (await keys.ended).stdout.trim();
    await writeFile(join(folder.path, 'service.yml'), 'auth: {apiKeys: true}\n');
    const args = ['--config', 'service.yml'];
    const headers = { Authorization: `Bearer ${key}` };
    const audit = async (...more: string[]) => {
      const { stdout, stderr, code } = await new ServiceProcess(['audit', '--since', '1h', ...more], {
        cwd: folder.path,
      }).ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return parse(stdout).map(({ what, outcome, principal }) => ({ what, outcome, principal }));
    };
    const exported = { what: 'config.export', outcome: 'ok', principal: 'key:boss' };
    // On the machine itself, by a user of it.
    const created = { what: 'key.create', outcome: 'ok', principal: expect.stringMatching(/^local:./) };
    const refused = { what: 'authenticate', outcome: 'UNAUTHORIZED' };
    const isRead = ({ what }: { what: string }) => what === 'GET /api/audit';
    {
      await using service = await ServiceProcess.listening(args, { cwd: folder.path });
      expect((await fetch(`${service.url}/api/config.yaml`, { headers })).status).toBe(200);
      const wrong = { Authorization: 'Bearer guessed-token' };
      expect((await fetch(`${service.url}/api/config.yaml`, { headers: wrong })).status).toBe(401);
      // Refused credentials are of no tenant. Whoever reads waits for what is not written yet.
      expect(await audit('--url', service.url, '--key', key)).toEqual([created, exported]);
      service.process.kill('SIGKILL');
      expect(await service.process.ended).toMatchObject({ signal: 'SIGKILL' });
    }
    // That it was read is an entry of its own, which was written in time or not.
    const written = async () => (await audit()).filter((entry) => !isRead(entry));
    expect(await written()).toEqual([created, exported, refused]);
    {
      await using service = await ServiceProcess.listening(args, { cwd: folder.path });
      expect((await fetch(`${service.url}/api/config.yaml`, { headers })).status).toBe(200);
      service.process.kill('SIGTERM');
      expect(await service.process.ended).toMatchObject({ code: 0 });
    }
    expect(await written()).toEqual([created, exported, refused, exported]);

    for (const secret of ['guessed-token', key]) expect(await filesWith(folder.path, secret)).toEqual([]);
  });

  verifies('audit.off', async () => {
    await using folder = await tempDirectory();
    const dataDir = join(folder.path, 'data');
    {
      await using service = await RunningService.start({ dataDir });
      await service.post('/api/message-sync', { message: 'hi' });
      expect((await service.fetch('/api/audit')).status).toBe(400);
    }
    const { stdout } = await new ServiceProcess(['audit', '--data-dir', dataDir]).ended;
    expect(stdout).toBe('');
  });
});
