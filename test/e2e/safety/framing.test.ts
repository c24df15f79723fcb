import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { parseEnvelope } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { rawExchange, rawRequest } from '../../support/sockets/raw-http.ts';
import { verifies } from '../requirements.ts';

const Sessions = z.looseObject({ sessions: z.array(z.looseObject({ sessionId: z.string() })) });
const HELLO = JSON.stringify({ message: 'hello', sessionId: 'sent' });
/** Complete requests that would leave a session behind, if anybody took them for requests. */
const SMUGGLED = ['first', 'second']
  .map((sessionId) => {
    const body = JSON.stringify({ message: 'smuggled', sessionId });
    return `POST /api/message-sync HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  })
  .join('');

const post = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: localhost\r\n`;
const targets: Readonly<Record<string, string>> = {
  'GET /api/mcp/servers': 'GET /api/mcp/servers HTTP/1.1\r\nHost: localhost\r\n',
  'GET /': 'GET / HTTP/1.1\r\nHost: localhost\r\n',
  'POST of an unknown path': post('/nothing'),
  'POST /api/message-sync': `${post('/api/message-sync')}Content-Type: application/json\r\n`,
  'POST /mcp': `${post('/mcp')}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n`,
  'an upgrade': `GET /?session=sent HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`,
};

const chunk = (data: string, end = '\r\n'): string => `${data.length.toString(16)}\r\n${data}${end}`;
const CHUNKED_BODY = `${chunk(HELLO)}0\r\n\r\n`;

/** The headers that do not tell one end, and a body that one reading of them gives. */
const faults: Readonly<Record<string, readonly [headers: string, body: string]>> = {
  'two lengths, the first the shorter': ['Content-Length: 5\r\nContent-Length: 40', HELLO],
  'two lengths, the first the longer': ['Content-Length: 40\r\nContent-Length: 5', HELLO],
  'the same length twice': [`Content-Length: ${HELLO.length}\r\nContent-Length: ${HELLO.length}`, HELLO],
  'a length and an empty one': [`Content-Length: ${HELLO.length}\r\nContent-Length:`, HELLO],
  'an empty length': ['Content-Length:', HELLO],
  'a length with a sign': [`Content-Length: +${HELLO.length}`, HELLO],
  'a negative length': ['Content-Length: -1', ''],
  'a hexadecimal length': ['Content-Length: 0x2a', HELLO],
  'a list of lengths': [`Content-Length: ${HELLO.length}, ${HELLO.length}`, HELLO],
  'a length that no number holds': [`Content-Length: ${'9'.repeat(40)}`, ''],
  'a length beside chunks': ['Transfer-Encoding: chunked\r\nContent-Length: 5', CHUNKED_BODY],
  'an empty coding': ['Transfer-Encoding:', ''],
  'an empty coding beside a length': [`Transfer-Encoding:\r\nContent-Length: ${HELLO.length}`, HELLO],
  ...Object.fromEntries(
    ['xchunked', 'gzip', 'identity', 'chunked, identity', 'gzip, chunked', '"chunked"', 'chunked;q=1'].map(
      (coding) => [`the coding ${coding}`, [`Transfer-Encoding: ${coding}`, CHUNKED_BODY]],
    ),
  ),
  'a coding that the body does not have': ['Transfer-Encoding: identity', HELLO],
  'two codings': ['Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', CHUNKED_BODY],
  'chunked twice': ['Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', CHUNKED_BODY],
};

const heads = (answer: string): string[] => answer.match(/HTTP\/1\.1 \d{3}/g) ?? [];

async function sessionsOf(service: RunningService): Promise<string[]> {
  const { sessions } = Sessions.parse(await (await service.fetch('/api/sessions')).json());
  return sessions.map(({ sessionId }) => sessionId);
}

const unlimited = { yaml: `${SCRIPTED}limits: { requestsPerMinute: false }\n` };

for (const place of ['memory', 'disk']) {
  describe(`with its log ${place === 'disk' ? 'on disk' : 'in memory'}`, () => {
    verifies('framing.refused', async () => {
      await using directory = await tempDirectory();
      const dataDir = place === 'disk' ? directory.path : ':memory:';
      await using service = await RunningService.start({ ...unlimited, dataDir });
      for (const [target, request] of Object.entries(targets)) {
        for (const [fault, [headers, body]] of Object.entries(faults)) {
          const answer = await rawExchange(service.port, `${request}${headers}\r\n\r\n${body}${SMUGGLED}`);
          const what = `${target} with ${fault}`;
          expect({ what, answers: heads(answer) }).toEqual({ what, answers: ['HTTP/1.1 400'] });
          expect(answer).toMatch(/^Connection: close\r$/im);
        }
      }
      expect(await sessionsOf(service)).toEqual([]);
    });

    verifies('framing.chunked', async () => {
      await using directory = await tempDirectory();
      const dataDir = place === 'disk' ? directory.path : ':memory:';
      await using service = await RunningService.start({ ...unlimited, dataDir });
      const bodies = {
        whole: CHUNKED_BODY,
        'with a chunk that lacks its line end': `${chunk(HELLO, '')}0\r\n\r\n`,
        'with a chunk whose line end is something else': `${chunk(HELLO, 'XX')}0\r\n\r\n`,
      };
      for (const [target, request] of Object.entries(targets)) {
        for (const [kind, body] of Object.entries(bodies)) {
          const bytes = `${request}Transfer-Encoding: chunked\r\n\r\n${body}${SMUGGLED}`;
          const answers = heads(await rawExchange(service.port, bytes));
          // An answer that takes its time is lost to a client that does not wait for it. It is never followed by another.
          expect({ target, kind, more: answers.slice(1) }).toEqual({ target, kind, more: [] });
        }
      }
      expect((await sessionsOf(service)).filter((session) => session !== 'sent')).toEqual([]);
    });
  });
}

describe('a refusal', () => {
  verifies('framing.refused', async () => {
    await using service = await RunningService.start();
    const request = `${targets['POST /api/message-sync']}Transfer-Encoding: gzip, chunked\r\n\r\n${CHUNKED_BODY}`;
    const [, body = ''] = (await rawExchange(service.port, request)).split('\r\n\r\n');
    expect(parseEnvelope(body)).toMatchObject({
      code: 'INVALID_REQUEST',
      details: {
        field: 'Transfer-Encoding',
        issue: 'it is "gzip, chunked"',
        suggestion: expect.stringContaining('chunked'),
      },
    });
    const handshake = `${targets['an upgrade']}Content-Length: 5\r\n\r\nhello`;
    const [, refusal = ''] = (await rawExchange(service.port, handshake)).split('\r\n\r\n');
    expect(parseEnvelope(refusal)).toMatchObject({
      details: { field: 'Content-Length', issue: 'it is "5"' },
    });
  });
});

describe('a chunked request', () => {
  verifies('framing.chunked', async () => {
    await using service = await RunningService.start(unlimited);
    const ask = (target: string, body = CHUNKED_BODY): Promise<string> =>
      rawExchange(service.port, `${targets[target]}Transfer-Encoding: CHUNKED\r\n\r\n${body}`);
    const reply = await ask('POST /api/message-sync');
    expect(reply).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(reply).toMatch(/^Connection: close\r$/im);
    expect(reply.match(/^connection:/gim)).toHaveLength(1);
    expect(reply).toContain('"success":true');
    // Answered while its last bytes are read, and what comes behind them is read with them.
    for (const [target, status] of [
      ['POST of an unknown path', 400],
      ['GET /api/mcp/servers', 200],
    ] as const) {
      const answer = await ask(target, `${CHUNKED_BODY}${SMUGGLED}`);
      expect(heads(answer)).toEqual([`HTTP/1.1 ${status}`]);
      expect(() => JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).not.toThrow();
    }
    expect(await sessionsOf(service)).toEqual(['sent']);
  });

  verifies('framing.chunked', 'also of what is sent after its answer has come', async () => {
    await using service = await RunningService.start(unlimited);
    const socket = connect(service.port, '127.0.0.1');
    const whole = text(socket);
    socket.on('error', () => undefined);
    socket.write(`${targets['POST /api/message-sync']}Transfer-Encoding: chunked\r\n\r\n${CHUNKED_BODY}`);
    await once(socket, 'data');
    socket.write(SMUGGLED);
    expect(heads(await whole)).toEqual(['HTTP/1.1 200']);
    expect(await sessionsOf(service)).toEqual(['sent']);
  });

  verifies('framing.chunked', 'and one that streams its answer ends the stream properly', async () => {
    await using service = await RunningService.start(unlimited);
    const asked = JSON.stringify({
      model: 'default',
      stream: true,
      messages: [{ role: 'user', content: 'hi' }],
    });
    const socket = connect(service.port, '127.0.0.1');
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
      if (answer.endsWith('\r\n0\r\n\r\n')) socket.write(SMUGGLED);
    });
    // The service closes the connection without reading what is sent behind the request.
    socket.on('error', () => undefined);
    socket.write(
      `${post('/v1/chat/completions')}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(asked)}0\r\n\r\n`,
    );
    await new Promise((resolve) => socket.once('close', resolve));
    expect(heads(answer)).toEqual(['HTTP/1.1 200']);
    expect(answer.match(/^connection: close\r$/gim)).toHaveLength(1);
    expect(answer).toMatch(/data: \[DONE\]\n\n\r\n0\r\n\r\n$/);
    expect(await sessionsOf(service)).toHaveLength(1);
  });
});

describe('a request with large headers', () => {
  verifies('framing.large', async () => {
    await using directory = await tempDirectory();
    await writeFile(join(directory.path, 'agent.yml'), SCRIPTED);
    const args = ['--agent', 'agent.yml', '--data-dir', ':memory:'];
    await using service = await ServiceProcess.listening(args, { cwd: directory.path });
    const status = async (length: number) => {
      const Authorization = `Bearer ${'x'.repeat(length)}`;
      return (await rawRequest(service.port, { path: '/api/health', headers: { Authorization } })).status;
    };
    expect([await status(15_000), await status(17_000)]).toEqual([200, 431]);
  });
});

describe('a request with a length', () => {
  verifies('framing.kept', async () => {
    await using service = await RunningService.start(unlimited);
    const body = `${targets['POST of an unknown path']}Content-Length: ${HELLO.length}\r\n\r\n${HELLO}`;
    const last = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    expect(heads(await rawExchange(service.port, `${body}${body}${last}`))).toEqual([
      'HTTP/1.1 400',
      'HTTP/1.1 400',
      'HTTP/1.1 200',
    ]);
  });
});

describe('requests that a client sends one behind the other, without waiting for the answers', () => {
  verifies('framing.pipelined', async () => {
    await using service = await RunningService.start(unlimited);
    const probe = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n';
    const answers = heads(
      await rawExchange(service.port, `${`${probe}\r\n`.repeat(99)}${probe}Connection: close\r\n\r\n`),
    );
    expect(answers).toEqual(Array.from({ length: 100 }, () => 'HTTP/1.1 200'));
  });
});
