import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { StorageFullError } from '../../../src/core/log/storage-full.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { errorOf, parseEnvelope } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { listSessions } from '../../support/sessions/session-api.ts';
import { rawRequest } from '../../support/sockets/raw-http.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { verifies } from '../requirements.ts';

const JSON_HEADERS = { 'Content-Type': 'application/json' };

function start(more: object = {}): Promise<RunningService> {
  const llm = { provider: 'scripted', model: 'offline', script: [{ when: '^fail', fail: 'as asked' }] };
  return RunningService.start({ yaml: JSON.stringify({ llm, ...more }) });
}

describe('errors', () => {
  verifies('errors.envelope', async () => {
    await using service = await start({ mcpServers: { tools: scriptableServer() } });
    const post = (path: string, body: unknown) => () => service.post(path, body);
    const cases: [() => Promise<Response>, number, string][] = [
      [post('/api/message-sync', {}), 400, 'MISSING_FIELD'],
      [post('/api/message-sync', { message: 5 }), 400, 'INVALID_REQUEST'],
      [post('/api/message-sync', { message: 'fail' }), 500, 'AGENT_ERROR'],
      [post('/api/message', { message: 'x', sessionId: '../x' }), 400, 'INVALID_REQUEST'],
      [post('/api/connect-server', { name: 'a' }), 400, 'MISSING_FIELD'],
      [post('/api/mcp/servers/nobody/tools/echo/execute', {}), 404, 'SERVER_NOT_FOUND'],
      [post('/api/nothing', {}), 400, 'INVALID_REQUEST'],
      [() => service.fetch('/api/mcp/servers/nobody/tools'), 404, 'SERVER_NOT_FOUND'],
      [() => service.fetch('/nothing'), 400, 'INVALID_REQUEST'],
    ];
    for (const [request, status, code] of cases)
      expect((await errorOf(await request(), status)).code).toBe(code);
    const foreign = await rawRequest(service.port, {
      path: '/api/health',
      headers: { Host: 'evil.example' },
    });
    expect(foreign.status).toBe(403);
    expect(parseEnvelope(foreign.text).code).toBe('FORBIDDEN');
  });

  verifies(
    'errors.envelope',
    'the unexpected is INTERNAL_ERROR, and its cause stays in the log',
    async () => {
      const burning: EventStore = {
        append: () => Promise.reject(new Error('EIO at /private/path')),
        read: () => Promise.resolve([]),
        pages: () => ReadableStream.from([]),
        sessions: () => Promise.resolve([]),
        streamIds: () => Promise.resolve([]),
        fork: () => Promise.reject(new Error('EIO at /private/path')),
        adopt: () => Promise.reject(new Error('EIO at /private/path')),
        erase: () => Promise.reject(new Error('EIO at /private/path')),
        size: () => Promise.reject(new Error('EIO at /private/path')),
        probe: () => Promise.reject(new Error('EIO at /private/path')),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
      const log = recordingLog();
      await using service = await RunningService.start({ adapters: { store: burning }, log });
      for (const path of ['/api/message-sync', '/api/message']) {
        const error = await errorOf(await service.post(path, { message: 'hello' }), 500);
        expect(error).toEqual({ code: 'INTERNAL_ERROR', message: expect.any(String), details: {} });
        expect(error.message).not.toContain('/private/path');
      }
      expect(log.lines.filter(({ level }) => level === 'error').length).toBeGreaterThan(0);
    },
  );

  verifies(
    'recovery.full',
    'what cannot be recorded because the disk is full is refused for the moment, and its cause stays in the log',
    async () => {
      const store = new WatchedStore(memoryEventStore());
      const log = recordingLog();
      await using service = await RunningService.start({ adapters: { store }, log });
      for (const path of ['/api/message-sync', '/api/message']) {
        const full = new StorageFullError('cannot append to /private/path');
        store.refuseNext('turn.requested', full);
        const response = await service.post(path, { message: 'hello' });
        expect(response.headers.get('Retry-After')).toBe('10');
        const { code, message, details } = await errorOf(response, 503);
        expect({ code, details }).toEqual({
          code: 'SERVICE_UNAVAILABLE',
          details: { reason: 'the disk of the service is full', retryAfter: 10 },
        });
        expect(message).not.toContain('/private/path');
        const fields = expect.objectContaining({ path, err: full });
        expect(log.lines).toContainEqual(expect.objectContaining({ level: 'error', fields }));
      }
      expect((await service.post('/api/message-sync', { message: 'hello' })).status).toBe(200);
    },
  );

  verifies('errors.json', async () => {
    await using service = await start();
    const bodies = [
      '{"message": "hel',
      '{message: "hello"}',
      "{'message':'hello'}",
      'hello',
      '',
      ' ',
      '{"a":1}}',
      '{bad',
    ];
    for (const path of ['/api/message-sync', '/api/message', '/api/connect-server']) {
      for (const body of bodies) {
        const response = await service.fetch(path, { method: 'POST', headers: JSON_HEADERS, body });
        expect(await errorOf(response, 400)).toMatchObject({
          code: 'INVALID_REQUEST',
          details: {
            field: 'body',
            issue: expect.stringMatching(/^it is empty$|^it cannot be parsed: .*(position \d|token)/),
            suggestion: 'Send a JSON object.',
          },
        });
      }
    }
  });

  verifies('errors.json', 'and so is JSON that is no object, or no UTF-8', async () => {
    await using service = await start();
    for (const body of ['null', '5', '"hello"', '[{"message":"hello"}]', 'true']) {
      const response = await service.fetch('/api/message-sync', {
        method: 'POST',
        headers: JSON_HEADERS,
        body,
      });
      expect(await errorOf(response, 400)).toMatchObject({
        code: 'INVALID_REQUEST',
        details: { field: 'body', suggestion: 'Send a JSON object.' },
      });
    }
    const notUtf8 = Uint8Array.of(...Buffer.from('{"message":"'), 0xff, 0xfe, ...Buffer.from('"}'));
    const response = await service.fetch('/api/message-sync', {
      method: 'POST',
      headers: JSON_HEADERS,
      body: notUtf8,
    });
    expect(await errorOf(response, 400)).toMatchObject({
      code: 'INVALID_REQUEST',
      details: {
        field: 'body',
        issue: expect.stringContaining('UTF-8'),
        suggestion: expect.stringContaining('UTF-8'),
      },
    });
  });

  verifies('errors.null', async () => {
    await using service = await start();
    const absent = { sessionId: null, imageData: null, whenBusy: null };
    for (const [path, body] of [
      ['/api/message-sync', { message: 'hi', ...absent }],
      ['/api/message', { message: 'hi', ...absent }],
      ['/api/sessions/default/cancel', { reason: null }],
      ['/api/reset', { sessionId: null }],
    ] as const) {
      expect((await service.post(path, body)).status).toBe(200);
    }
    expect(await errorOf(await service.post('/api/message-sync', { message: null }), 400)).toMatchObject({
      details: { field: 'message' },
    });
    using client = await service.connect();
    client.say('hi', { imageData: null, whenBusy: null, clientMessageId: null });
    const { event } = (await client.settled()).at(-1) ?? {};
    expect(event).toBe('response');
    expect((await listSessions(service)).map(({ sessionId }) => sessionId)).toEqual(['default']);
  });

  verifies('errors.content-type', async () => {
    await using service = await start();
    const wrong = [
      undefined,
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonx',
      'application/json; charset=latin1',
    ];
    for (const path of ['/api/message-sync', '/api/message', '/api/reset', '/api/connect-server']) {
      for (const type of wrong) {
        // By node:http, because fetch adds a Content-Type of its own.
        const { status, text } = await rawRequest(service.port, {
          method: 'POST',
          path,
          headers: type === undefined ? {} : { 'Content-Type': type },
          body: '{"message":"hello"}',
        });
        expect({ status, path, type }).toEqual({ status: 400, path, type });
        expect(parseEnvelope(text)).toMatchObject({
          code: 'INVALID_REQUEST',
          details: { field: 'Content-Type', issue: expect.stringContaining(type ?? 'missing') },
        });
      }
    }
  });

  verifies('errors.content-type', 'while case and charset=utf-8 make no difference', async () => {
    await using service = await start();
    for (const type of [
      'application/json',
      'Application/JSON; Charset=UTF-8',
      'application/json;charset="utf-8"',
    ]) {
      const response = await service.post(
        '/api/message-sync',
        { message: 'hello' },
        { 'Content-Type': type },
      );
      expect({ type, status: response.status }).toEqual({ type, status: 200 });
    }
  });

  verifies('errors.content-type', 'and so is a Content-Encoding other than identity', async () => {
    await using service = await start();
    const body = { message: 'hello' };
    const sent = (encoding: string) =>
      service.fetch('/api/message-sync', {
        method: 'POST',
        headers: { ...JSON_HEADERS, 'Content-Encoding': encoding },
        body: encoding === 'gzip' ? gzipSync(JSON.stringify(body)) : JSON.stringify(body),
      });
    for (const encoding of ['gzip', 'deflate', 'identity, br'])
      expect(await errorOf(await sent(encoding), 400)).toMatchObject({
        code: 'INVALID_REQUEST',
        details: {
          field: 'Content-Encoding',
          issue: `it is "${encoding}"`,
          suggestion: 'Send the body uncompressed.',
        },
      });
    expect((await sent('Identity')).status).toBe(200);
  });

  verifies('errors.unknown-path', async () => {
    await using service = await start();
    const unknown = [
      ['GET', '/api/'],
      ['GET', '/api/nothing'],
      ['POST', '/api/v1/message-sync'],
      ['POST', '/api/message-sync/'],
      ['POST', '/api/Message-Sync'],
      ['POST', '/api//reset'],
      ['GET', '/api/mcp/servers//tools'],
      ['GET', '/api/mcp/servers/a/tools/b/execute/c'],
      ['GET', '/api/message-sync'],
      ['PUT', '/api/reset'],
      ['PATCH', '/api/message'],
      ['DELETE', '/api/config.yaml'],
      ['POST', '/api/health'],
      ['BREW', '/api/health'],
    ] as const;
    for (const [method, path] of unknown) {
      const { status, text } = await rawRequest(service.port, { method, path });
      expect({ method, path, status }).toEqual({ method, path, status: 400 });
      expect(parseEnvelope(text)).toMatchObject({
        code: 'INVALID_REQUEST',
        details: { issue: expect.any(String) },
      });
    }
    const wrongMethod = await service.fetch('/api/message-sync');
    expect((await errorOf(wrongMethod, 400)).details).toMatchObject({ allowed: ['POST'] });
  });
});
