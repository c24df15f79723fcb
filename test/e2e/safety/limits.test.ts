import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterEach, describe, expect, vi } from 'vitest';
import { startSupportProcess } from '../../support/processes/child-process.ts';
import { eventually } from '../../support/project/eventually.ts';
import { errorOf, parseEnvelope } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { handshake, type RawResponse, rawRequest } from '../../support/sockets/raw-http.ts';
import { verifies } from '../requirements.ts';

const LIMIT_BYTES = 10 * 1024 * 1024;
const MEGABYTE = 1024 * 1024;
const run = promisify(execFile);

function start(limits: object = {}, server: object = {}): Promise<RunningService> {
  const llm = { provider: 'scripted', model: 'offline', script: [{ when: '^hello', reply: 'hi' }] };
  return RunningService.start({ yaml: JSON.stringify({ llm, limits, server }) });
}

const seconds = () => Date.now() / 1000;

/** Moves the clock of the service on; its timers stay as they are. */
function later(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
}

afterEach(() => {
  vi.useRealTimers();
});

function expectLimitHeaders(headers: Headers, limit: number, remaining: number): void {
  expect(headers.get('X-RateLimit-Limit')).toBe(String(limit));
  expect(headers.get('X-RateLimit-Remaining')).toBe(String(remaining));
  expect(headers.get('X-RateLimit-Reset')).toMatch(/^\d+$/);
  const reset = Number(headers.get('X-RateLimit-Reset'));
  expect(reset).toBeGreaterThan(seconds() - 1);
  expect(reset).toBeLessThan(seconds() + 62);
}

describe('the limit on requests', () => {
  verifies('limits.headers', async () => {
    await using service = await start();
    const requests: [() => Promise<Response>, number][] = [
      [() => service.fetch('/api/health'), 200],
      [() => service.fetch('/api/config.yaml'), 200],
      [() => service.post('/api/message-sync', { message: 'hello' }), 200],
      [() => service.post('/api/message-sync', {}), 400],
      [() => service.fetch('/api/mcp/servers/nobody/tools'), 404],
      [() => service.post('/api/reset', {}, { Origin: 'https://evil.example' }), 403],
      [() => service.fetch('/api/nothing'), 400],
      [() => service.fetch('/api/health', { method: 'HEAD' }), 200],
    ];
    const preflight = () => service.fetch('/api/health', { method: 'OPTIONS' });
    expectLimitHeaders((await preflight()).headers, 100, 100);
    for (const [index, [request, status]] of requests.entries()) {
      const response = await request();
      expect(response.status).toBe(status);
      expectLimitHeaders(response.headers, 100, 99 - index);
      await response.text();
    }
    expectLimitHeaders((await preflight()).headers, 100, 100 - requests.length);
  });

  verifies('limits.requests', async () => {
    await using service = await start();
    for (let request = 0; request < 100; request += 1) {
      const response = await service.fetch(request % 2 ? '/api/health' : '/api/nothing');
      expect(response.status).toBe(request % 2 ? 200 : 400);
      await response.text();
    }
    const response = await service.fetch('/api/health');
    expectLimitHeaders(response.headers, 100, 0);
    const resetTime = Number(response.headers.get('X-RateLimit-Reset'));
    const retryAfter = response.headers.get('Retry-After');
    expect(retryAfter).toMatch(/^\d+$/);
    expect(Number(retryAfter)).toBeGreaterThan(0);
    expect(Math.abs(seconds() + Number(retryAfter) - resetTime)).toBeLessThan(3);
    expect(await errorOf(response, 429)).toEqual({
      code: 'RATE_LIMIT_EXCEEDED',
      message: expect.any(String),
      details: { limit: 100, remaining: 0, resetTime },
    });
    expect((await service.fetch('/healthz')).status).toBe(200);

    later(61_000);
    const afterwards = await service.fetch('/api/health');
    expect(afterwards.status).toBe(200);
    expectLimitHeaders(afterwards.headers, 100, 99);
  });

  verifies('limits.requests', 'as many as configured, also when 30 race', async () => {
    await using service = await start({ requestsPerMinute: 7 });
    const answers = await Promise.all(Array.from({ length: 30 }, () => service.fetch('/api/health')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(23);
  });

  const get = (service: RunningService, forwardedFor: string): Promise<RawResponse> =>
    rawRequest(service.port, { path: '/api/health', headers: { 'X-Forwarded-For': forwardedFor } });

  verifies('limits.proxy', async () => {
    await using service = await start({ requestsPerMinute: 2 });
    const statuses = [];
    for (const address of ['1.1.1.1', '2.2.2.2', '3.3.3.3'])
      statuses.push((await get(service, address)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  const trusting: [string, unknown][] = [
    ['an address', ['127.0.0.1']],
    ['a range', ['10.0.0.0/8', '127.0.0.0/8']],
  ];
  for (const [what, trustProxy] of trusting) {
    verifies('limits.proxy', `from ${what}, the address before the proxies counts`, async () => {
      await using service = await start({ requestsPerMinute: 1 }, { trustProxy });
      expect((await get(service, '1.1.1.1')).status).toBe(200);
      expect((await get(service, '2.2.2.2')).status).toBe(200);
      expect((await get(service, '2001:db8::1')).status).toBe(200);
      // What stands further left was written by the client.
      expect((await get(service, '9.9.9.9, 1.1.1.1')).status).toBe(429);
      expect((await get(service, '9.9.9.9')).status).toBe(200);
    });
  }

  verifies('limits.proxy', 'a proxy may add the port of the client', async () => {
    await using service = await start({ requestsPerMinute: 2 }, { trustProxy: ['127.0.0.1'] });
    for (const port of [50_001, 50_002]) await get(service, `1.1.1.1:${port}`);
    for (const port of [50_001, 50_002]) await get(service, `[2001:db8::1]:${port}`);
    expect((await get(service, '1.1.1.1:50003')).status).toBe(429);
    expect((await get(service, '1.1.1.1')).status).toBe(429);
    expect((await get(service, '[2001:db8::1]:50003')).status).toBe(429);
    expect((await get(service, '2001:db8::1')).status).toBe(429);
  });

  verifies('limits.proxy', 'nonsense in the header breaks nothing', async () => {
    await using service = await start({ requestsPerMinute: 100 }, { trustProxy: ['127.0.0.1'] });
    for (const nonsense of ['nonsense', '', ',,', '1.2.3', ':::', '999.1.1.1', '_hidden', 'unknown, unknown'])
      expect((await get(service, nonsense)).status).toBe(200);
  });
});

describe('the limit on messages', () => {
  verifies('limits.messages', async () => {
    await using service = await start();
    using client = await service.connect();
    using other = await service.connect('?session=other');
    for (let message = 0; message < 50; message += 1) client.say('hello');
    await client.settled(50);
    expect(client.frames.filter(({ event }) => event === 'error')).toEqual([]);

    client.say('hello');
    const error = (await client.settled(51)).at(-1);
    expect(error).toEqual({
      event: 'error',
      data: {
        code: 'RATE_LIMIT_EXCEEDED',
        message: expect.any(String),
        details: { limit: 50, remaining: 0, resetTime: expect.any(Number) },
      },
    });
    other.say('hello');
    expect((await other.settled()).at(-1)?.event).toBe('response');

    later(61_000);
    client.say('hello');
    expect((await client.settled(52)).at(-1)).toEqual({ event: 'response', data: { content: 'hi' } });
  });

  verifies('limits.messages', 'every frame counts', async () => {
    await using service = await start({ messagesPerMinute: 3 });
    using client = await service.connect();
    for (const frame of ['no json', { type: 'dance' }, { type: 'message' }, { type: 'reset' }])
      client.send(frame);
    const frames = await client.settled(4);
    expect(frames.map(({ data }) => ('code' in data ? data.code : undefined))).toEqual([
      'INVALID_REQUEST',
      'INVALID_MESSAGE_TYPE',
      'MISSING_FIELD',
      'RATE_LIMIT_EXCEEDED',
    ]);
  });
});

interface Outcome {
  readonly status?: number;
  readonly text?: string;
  readonly failed?: string;
}

/** More than once: client and service race, and a client that keeps its connection uses it again. */
const TIMES = 4;

/** What a client of this kind, in a process of its own, gets for a body of so many bytes, each time. */
async function upload(
  service: RunningService,
  client: string,
  bytes: number,
  { times = TIMES, path = '/api/message-sync' } = {},
): Promise<Outcome[]> {
  const args = [service.url + path, client, String(bytes), String(times)];
  await using uploading = startSupportProcess('uploading-process.ts', args);
  const { value } = await uploading.lines.next();
  return JSON.parse(value);
}

function expectTooLarge(answer: string | undefined): void {
  expect(parseEnvelope(answer ?? '')).toMatchObject({
    code: 'RATE_LIMIT_EXCEEDED',
    details: {
      limit: LIMIT_BYTES,
      remaining: 0,
      resetTime: expect.any(Number),
      suggestion: 'Send less than 10 MB: trying again does not help.',
    },
  });
}

const clients = ['fetch', 'fetch-chunked', 'http', 'http-chunked', 'http-close', 'blocking'];

describe('the limit on size', () => {
  for (const client of clients) {
    verifies('limits.size', `11 MB by ${client}, while 10 MB are accepted`, async () => {
      await using service = await start();
      const outcomes = await upload(service, client, 11 * MEGABYTE);
      expect(outcomes.map(({ status, failed }) => failed ?? status)).toEqual(Array(TIMES).fill(429));
      for (const outcome of outcomes) expectTooLarge(outcome.text);

      const fitting = await upload(service, client, LIMIT_BYTES, { times: 1 });
      expect(fitting).toEqual([{ status: 200, text: expect.stringContaining('"success":true') }]);
      const [justBeyond] = await upload(service, client, LIMIT_BYTES + 1, { times: 1 });
      expect(justBeyond?.status).toBe(429);
    });
  }

  // Covered by the clients above too; this one is what people try first.
  if (spawnSync('curl', ['--version']).status === 0) {
    for (const more of [[], ['-H', 'Transfer-Encoding: chunked'], ['-H', 'Expect:']]) {
      verifies('limits.size', `11 MB by curl ${more.join(' ')}`, async () => {
        await using directory = await tempDirectory();
        await using service = await start();
        const file = join(directory.path, 'body.json');
        const writing = createWriteStream(file).end(Buffer.alloc(11 * MEGABYTE, ' '));
        await once(writing, 'close');
        const args = ['-sS', '-w', '\n%{http_code}', '-H', 'Content-Type: application/json', ...more];
        const url = `${service.url}/api/message-sync`;
        const { stdout } = await run('curl', [...args, '--data-binary', `@${file}`, url]);
        const [answer, status] = stdout.split('\n');
        expect(status).toBe('429');
        expectTooLarge(answer);
      });
    }
  }

  verifies('limits.size', 'another refusal of a large body reaches the client too', async () => {
    await using service = await start();
    for (const client of ['fetch', 'http-chunked', 'blocking']) {
      const outcomes = await upload(service, client, 9 * MEGABYTE, { path: '/api/nothing' });
      expect(outcomes.map(({ status, failed }) => failed ?? status)).toEqual(Array(TIMES).fill(400));
      for (const { text: answer = '' } of outcomes)
        expect(parseEnvelope(answer).code).toBe('INVALID_REQUEST');
    }
  });

  verifies(
    'limits.size',
    'a client that never stops sending is answered, and then read no further',
    async () => {
      await using service = await start({ requestsPerMinute: false });
      const socket = connect(service.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(
        `POST /api/message-sync HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      const piece = Buffer.alloc(64 * 1024, ' ');
      const chunk = Buffer.concat([
        Buffer.from(`${piece.length.toString(16)}\r\n`),
        piece,
        Buffer.from('\r\n'),
      ]);
      const pour = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', pour);
      pour();
      const [answer] = await once(socket, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1\.1 429 .*\r\nConnection: close\r\n/s);
      expectTooLarge(String(answer).split('\r\n\r\n')[1]);
      // A service that read on would take hundreds of megabytes meanwhile.
      for (let request = 0; request < 200; request += 1) await (await service.fetch('/healthz')).text();
      expect(socket.bytesWritten - socket.writableLength).toBeLessThan(50 * MEGABYTE);
      socket.destroy();
    },
  );

  verifies('limits.size', 'as configured, and also when the body is only announced', async () => {
    await using service = await start({ requestBytes: 1000 });
    const fits = await service.post('/api/message-sync', { message: 'hello'.padEnd(950) });
    expect(fits.status).toBe(200);
    const beyond = await service.post('/api/message-sync', { message: 'hello'.padEnd(1000) });
    // A size is no rate: the client may go on.
    expectLimitHeaders(beyond.headers, 100, 98);
    expect((await errorOf(beyond, 429)).details).toMatchObject({ limit: 1000, remaining: 0 });
    const declared = connect(service.port, '127.0.0.1');
    declared.write(
      'POST /api/reset HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 1001\r\n\r\n',
    );
    expect(await text(declared)).toMatch(/^HTTP\/1\.1 429 /);
  });
});

describe('the limit on connections', () => {
  const expectRefusal = ({ status, headers, text: answer }: RawResponse): void => {
    expect(status).toBe(429);
    const { code, details } = parseEnvelope(answer);
    expect(code).toBe('RATE_LIMIT_EXCEEDED');
    expect(details).toEqual({ limit: 10, remaining: 0, resetTime: expect.any(Number) });
    expect(headers).toMatchObject({
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(details.resetTime),
      'retry-after': expect.stringMatching(/^\d+$/),
    });
  };

  verifies('limits.connections', async () => {
    await using service = await start();
    const results = await Promise.all(Array.from({ length: 40 }, () => handshake(service.port)));
    const sockets = results.flatMap((result) => (result.accepted ? [result.socket] : []));
    const refusals = results.flatMap((result) => (result.accepted ? [] : [result.response]));
    expect(sockets).toHaveLength(10);
    expect(refusals).toHaveLength(30);
    for (const refusal of refusals) expectRefusal(refusal);

    sockets.pop()?.destroy();
    const next = await eventually(
      () => handshake(service.port),
      ({ accepted }) => accepted,
    );
    if (next.accepted) sockets.push(next.socket);
    const last = await handshake(service.port);
    if (last.accepted) throw new Error('the place of one socket was given to two');
    expectRefusal(last.response);
    for (const socket of sockets) socket.destroy();
  });

  verifies('limits.connections', 'a refused handshake takes no place', async () => {
    await using service = await start();
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const foreign = await handshake(service.port, { Origin: 'https://evil.example' });
      expect(foreign.accepted).toBe(false);
      const unnamed = await handshake(service.port, {}, '/?session=..%2F');
      expect(unnamed.accepted).toBe(false);
    }
    const results = await Promise.all(Array.from({ length: 10 }, () => handshake(service.port)));
    expect(results.map(({ accepted }) => accepted)).toEqual(Array(10).fill(true));
    for (const result of results) if (result.accepted) result.socket.destroy();
  });

  verifies('limits.connections', 'each address behind a trusted proxy has its own', async () => {
    await using service = await start({ connectionsPerAddress: 1 }, { trustProxy: ['127.0.0.1'] });
    const from = (address: string) => handshake(service.port, { 'X-Forwarded-For': address });
    const results = [await from('1.1.1.1'), await from('2.2.2.2'), await from('1.1.1.1')];
    expect(results.map(({ accepted }) => accepted)).toEqual([true, true, false]);
    for (const result of results) if (result.accepted) result.socket.destroy();
  });
});

describe('the limit on connections, with event streams', () => {
  const stream = (service: RunningService) =>
    service.fetch('/api/sessions/s/events', { headers: { accept: 'text/event-stream' } });

  verifies(
    'limits.connections',
    'a stream of server-sent events is one, and gives its place back',
    async () => {
      await using service = await start({ connectionsPerAddress: 2 });
      const socket = await handshake(service.port);
      if (!socket.accepted) throw new Error('the first WebSocket was refused');
      const first = await stream(service);
      expect(first.status).toBe(200);
      const refused = await stream(service);
      const resetTime = Number(refused.headers.get('X-RateLimit-Reset'));
      expectLimitHeaders(refused.headers, 2, 0);
      expect((await errorOf(refused, 429)).details).toEqual({ limit: 2, remaining: 0, resetTime });
      expect((await handshake(service.port)).accepted).toBe(false);
      // A page of the log holds no connection.
      expect((await service.fetch('/api/sessions/s/events')).status).toBe(200);

      await first.body?.cancel();
      const second = await eventually(
        () => stream(service),
        ({ status }) => status === 200,
      );
      expect((await stream(service)).status).toBe(429);
      socket.socket.destroy();
      const third = await eventually(
        () => stream(service),
        ({ status }) => status === 200,
      );
      await Promise.all([second, third].map(({ body }) => body?.cancel()));
    },
  );

  verifies('limits.connections', 'a stream that ends takes no place', async () => {
    await using service = await start({ connectionsPerAddress: 1 });
    for (let attempt = 0; attempt < 20; attempt += 1) {
      await service.post('/api/message-sync', { message: 'hello', sessionId: 's' });
      const { status, body } = await stream(service);
      expect(status).toBe(200);
      // The stream ends by itself.
      const reading = body?.pipeTo(new WritableStream());
      await service.fetch('/api/sessions/s', { method: 'DELETE' });
      await reading;
    }
    const bad = await service.fetch('/api/sessions/s/events?after=x', {
      headers: { accept: 'text/event-stream' },
    });
    expect(bad.status).toBe(400);
    expect((await handshake(service.port)).accepted).toBe(true);
  });

  verifies('limits.connections', 'an export is one, too, as long as it is sent', async () => {
    await using service = await start({ connectionsPerAddress: 1 });
    await service.post('/api/message-sync', { message: 'hello', sessionId: 's' });
    const watching = await stream(service);
    const refused = await service.fetch('/api/sessions/s/export');
    expect(refused.status).toBe(429);
    expectLimitHeaders(refused.headers, 1, 0);
    await watching.body?.cancel();
    const read = async () => (await service.fetch('/api/sessions/s/export')).text();
    const exported = await eventually(read, (answer) => !answer.includes('RATE_LIMIT_EXCEEDED'));
    expect(exported.trim().split('\n')).toHaveLength(4);
  });
});

describe('limits that are switched off', () => {
  verifies('limits.off', 'requests', async () => {
    await using service = await start({ requestsPerMinute: false });
    for (let request = 0; request < 120; request += 1) {
      const response = await service.fetch('/api/health');
      expect(response.status).toBe(200);
      expect(response.headers.get('X-RateLimit-Limit')).toBeNull();
      await response.text();
    }
  });

  verifies('limits.off', 'messages', async () => {
    await using service = await start({ messagesPerMinute: false });
    using client = await service.connect();
    for (let message = 0; message < 60; message += 1) client.say('hello');
    const frames = await client.settled(60);
    expect(frames.filter(({ event }) => event === 'response')).toHaveLength(60);
  });

  verifies('limits.off', 'size', async () => {
    await using service = await start({ requestBytes: false });
    const [outcome] = await upload(service, 'fetch', 24 * MEGABYTE, { times: 1 });
    expect(outcome).toMatchObject({ status: 200, text: expect.stringContaining('"success":true') });
  });

  verifies('limits.off', 'connections', async () => {
    await using service = await start({ connectionsPerAddress: false });
    const results = await Promise.all(Array.from({ length: 40 }, () => handshake(service.port)));
    expect(results.map(({ accepted }) => accepted)).toEqual(Array(40).fill(true));
    for (const result of results) if (result.accepted) result.socket.destroy();
  });
});
