import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { describe, expect } from 'vitest';
import { eventually } from '../../support/project/eventually.ts';
import { parseEnvelope } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { UpstreamService } from '../../support/service/upstream-service.ts';
import { readLog } from '../../support/sessions/session-log.ts';
import { rawExchange } from '../../support/sockets/raw-http.ts';
import { RawWebSocket } from '../../support/sockets/raw-websocket.ts';
import { StreamRecord } from '../../support/sockets/stream-record.ts';
import { MetricValues } from '../../support/telemetry/metric-values.ts';
import { verifies } from '../requirements.ts';

/*
 * uWebSockets.js looks at its clocks every four seconds, so "about ten" may be eight and may be sixteen. Nothing here
 * waits for a time: each test waits for the cut itself.
 */
const ABOUT_TEN_SECONDS = { least: 7_000, most: 17_000 };
const TIMEOUT_MS = 240_000;

const HOST = 'Host: localhost\r\n';
const post = (more: string): string =>
  `POST /api/message-sync HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n${more}\r\n\r\n`;
const BEGUN = '{"message":';
const HELLO = `${BEGUN}"hello"}`;

const YAML = JSON.stringify({
  llm: {
    provider: 'scripted',
    model: 'offline',
    script: [{ when: '^big', reply: 'x'.repeat(256 * 1024), chunks: 1 }],
  },
  limits: { requestsPerMinute: false },
});

/** With a session of more than the system takes for a client that does not read. */
async function withBigSession(): Promise<RunningService> {
  const service = await RunningService.start({ yaml: YAML });
  for (let turn = 0; turn < 32; turn += 1) {
    const { status } = await service.post('/api/message-sync', { message: 'big', sessionId: 'big' });
    expect(status).toBe(200);
  }
  return service;
}

/** Resolves when the service has so many open streams of a kind. */
async function openStreams(service: RunningService, kind: string, count: number): Promise<void> {
  const value = async () => (await MetricValues.at(service.url)).value(`agent_sockets{kind=${kind}}`);
  await eventually(value, (open) => open === count);
}

async function openSocket(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  // A connection that is reset ends too.
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

/** Reads an event stream as far as it is told to, and no further. */
class EventReader {
  readonly #response: IncomingMessage;
  readonly #parser: EventSourceParser;
  lastId = '';

  private constructor(response: IncomingMessage, record: StreamRecord) {
    this.#response = response.setEncoding('utf8');
    this.#parser = createParser({
      onEvent: ({ id, data }) => {
        record.add(JSON.parse(data));
        this.lastId = id ?? this.lastId;
      },
    });
  }

  static async open({ port }: RunningService, record: StreamRecord, lastId?: string): Promise<EventReader> {
    const headers = { accept: 'text/event-stream', ...(lastId && { 'last-event-id': lastId }) };
    const path = '/api/sessions/big/events';
    const request = get({ port, host: '127.0.0.1', path, headers, agent: false });
    const [response]: IncomingMessage[] = await once(request, 'response');
    if (response?.statusCode !== 200) throw new Error(`refused: ${response?.statusCode}`);
    return new EventReader(response, record);
  }

  async readSome(characters: number): Promise<void> {
    for (let read = 0; read < characters; ) {
      const piece = this.#response.read();
      if (piece === null) await once(this.#response, 'readable');
      else this.#parser.feed(String(piece));
      read += String(piece ?? '').length;
    }
  }

  /** Up to the end of the connection, or until `isEnough`. */
  async readOn(isEnough: () => boolean): Promise<void> {
    try {
      for await (const piece of this.#response) {
        this.#parser.feed(String(piece));
        if (isEnough()) break;
      }
    } catch (error) {
      expect(error).toMatchObject({ code: 'ECONNRESET' });
    }
  }
}

describe.concurrent('a client that stalls', () => {
  const stalled = {
    'sends nothing': '',
    'sends half of a head': `GET /healthz HTTP/1.1\r\n${HOST}`,
    'sends no body': post('Content-Length: 1000'),
    'sends half of a body': `${post('Content-Length: 1000')}${BEGUN}`,
    'sends half of a chunk': `${post('Transfer-Encoding: chunked')}20\r\n${BEGUN}`,
  };
  verifies(
    'limits.stalled',
    'in the middle of a request',
    async () => {
      await using setup = await UpstreamService.open();
      const { service, upstream } = setup;
      const gate = Promise.withResolvers<void>();
      upstream.replyWith({
        stream: [{ gate: gate.promise }, { text: 'At last.' }, { finish: 'stop' }, { done: true }],
      });
      const patient = service.post('/api/message-sync', { message: 'take your time' });
      await upstream.request(0);

      const startedAt = performance.now();
      const cuts = Object.entries(stalled).map(async ([what, bytes]) => {
        const answer = await rawExchange(service.port, bytes);
        const afterMs = performance.now() - startedAt;
        const isInTime = afterMs > ABOUT_TEN_SECONDS.least && afterMs < ABOUT_TEN_SECONDS.most;
        return { what, answer, isInTime };
      });
      expect(await Promise.all(cuts)).toEqual(
        Object.keys(stalled).map((what) => ({ what, answer: '', isInTime: true })),
      );
      expect((await service.fetch('/healthz')).status).toBe(200);
      // Nobody has to wait in vain who has sent all of the request: it is not cut, however long the answer takes.
      gate.resolve();
      expect(await (await patient).json()).toMatchObject({ response: 'At last.' });
    },
    TIMEOUT_MS,
  );

  verifies(
    'limits.stalled',
    'with a body of less than 16 KB a second',
    async () => {
      await using service = await RunningService.start();
      const pieces = 180;
      const upload = async (bytes: number) => {
        const length = HELLO.length + pieces * bytes;
        const head = post(`Connection: close\r\nContent-Length: ${length}`);
        const socket = await openSocket(service.port, `${head}${HELLO}`);
        // The cut may come as a reset.
        const answer = text(socket).catch(() => '');
        return { send: () => socket.write(' '.repeat(bytes)), answer };
      };
      const [slow, fast] = [await upload(256), await upload(16 * 1024)];
      let sent = 0;
      const sender = setInterval(() => {
        sent += 1;
        slow.send();
        fast.send();
        if (sent === pieces) clearInterval(sender);
      }, 100);
      expect(await slow.answer).toBe('');
      expect(sent).toBeLessThan(pieces);
      expect(await fast.answer).toMatch(/^HTTP\/1\.1 200 /);
    },
    TIMEOUT_MS,
  );

  verifies(
    'limits.stalled',
    'in the middle of a body that nobody wants: its answer has come whole before',
    async () => {
      await using service = await RunningService.start();
      const body = `Content-Length: 100000000\r\nContent-Type: application/json\r\n\r\n${BEGUN}`;
      const refused = ['/api/message-sync', '/nothing'].map(async (path) => {
        const answer = await rawExchange(service.port, `POST ${path} HTTP/1.1\r\n${HOST}${body}`);
        const [head = '', envelope = ''] = answer.split('\r\n\r\n');
        expect(head).toMatch(/^Connection: close$/im);
        return parseEnvelope(envelope).code;
      });
      expect(await Promise.all(refused)).toEqual(['RATE_LIMIT_EXCEEDED', 'INVALID_REQUEST']);
    },
    TIMEOUT_MS,
  );

  verifies(
    'limits.stalled',
    'in the middle of an answer',
    async () => {
      await using service = await withBigSession();
      const page = `GET /api/sessions/big HTTP/1.1\r\n${HOST}\r\n`;
      const socket = await openSocket(service.port, page);
      // Its answer has begun: it stalls before the stream does, and is cut no later. Nothing more is read.
      await once(socket, 'readable');
      // Of a stream the service tells when it is cut; both stall from now on.
      const stream = await EventReader.open(service, new StreamRecord());
      await openStreams(service, 'event_stream', 1);
      await openStreams(service, 'event_stream', 0);
      const answer = await text(socket);
      expect(answer).toMatch(/^HTTP\/1\.1 200 .*^Transfer-Encoding: chunked$/ims);
      expect(answer.endsWith('\r\n0\r\n\r\n')).toBe(false);
      await stream.readOn(() => false);
    },
    TIMEOUT_MS,
  );
});

describe.concurrent('a stream whose client takes nothing', () => {
  const overEvents = async (readsFirst: boolean) => {
    await using service = await withBigSession();
    const log = await readLog(service, 'big');
    const record = new StreamRecord();
    const stalled = await EventReader.open(service, record);
    const headers = { accept: 'text/event-stream' };
    const silent = await service.fetch('/api/sessions/silent/events', { headers });
    if (readsFirst) await stalled.readSome(4_000_000);
    await openStreams(service, 'event_stream', 2);
    await openStreams(service, 'event_stream', 1);
    await stalled.readOn(() => false);
    expect(record.seq).toBeLessThan(log.length);

    const resumed = await EventReader.open(service, record, stalled.lastId);
    await resumed.readOn(() => record.seq === log.length);
    expect(record.events).toEqual(log);
    // Whoever reads is not cut, however little there is to read.
    await silent.body?.cancel();
  };

  verifies(
    'stream.stalled',
    'over server-sent events, after about ten seconds',
    () => overEvents(false),
    TIMEOUT_MS,
  );

  verifies(
    'stream.stalled',
    'over server-sent events, also when it has read some',
    () => overEvents(true),
    TIMEOUT_MS,
  );

  verifies(
    'stream.stalled',
    'over WebSocket, after about twenty',
    async () => {
      await using service = await withBigSession();
      const log = await readLog(service, 'big');
      const record = new StreamRecord();
      using stalled = await RawWebSocket.open(service.port, '/?session=big&after=0');
      using silent = await service.connect('?session=silent');
      await openStreams(service, 'websocket', 2);
      await openStreams(service, 'websocket', 1);
      const { texts, close } = await stalled.readToEnd();
      expect(close).toBeUndefined();
      for (const sent of texts) record.add(JSON.parse(sent));
      expect(record.seq).toBeLessThan(log.length);

      const again = `/?session=big&after=${record.seq}&offset=${record.offset}`;
      using resumed = await RawWebSocket.open(service.port, again);
      const rest = await resumed.readUntil(`"seq":${log.length}`);
      for (const sent of rest.texts) record.add(JSON.parse(sent));
      expect(record.events).toEqual(log);
      silent.say('still here?');
      await silent.settled();
    },
    TIMEOUT_MS,
  );
});
