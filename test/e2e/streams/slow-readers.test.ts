import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import { describe, expect } from 'vitest';
import type { ResumableFrame } from '../../../src/wire/frames.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { residentBytes } from '../../support/service/process-life.ts';
import { type ListeningService, ServiceProcess } from '../../support/service/service-process.ts';
import { readLog } from '../../support/sessions/session-log.ts';
import { RawWebSocket } from '../../support/sockets/raw-websocket.ts';
import { StreamRecord } from '../../support/sockets/stream-record.ts';
import { verifies } from '../requirements.ts';

const TURNS = 32;
const REPLY_BYTES = 256 * 1024;
/** Each reply is on the wire three times: in pieces, with its step and as the response. */
const STREAMED_BYTES = 3 * TURNS * REPLY_BYTES;
const READERS = 16;
/** It moves several hundred megabytes. */
const TIMEOUT_MS = 240_000;

const YAML = JSON.stringify({
  llm: {
    provider: 'scripted',
    model: 'offline',
    script: [{ when: '^turn (\\d+)$', reply: 'number $1 '.repeat(REPLY_BYTES / 10), chunks: 16 }],
  },
  limits: { requestsPerMinute: false, connectionsPerAddress: false },
});

async function talk(service: ListeningService, sessionId: string): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) {
    const { status } = await service.post('/api/message-sync', { message: `turn ${turn}`, sessionId });
    expect(status).toBe(200);
  }
}

/** A service that has done before what it is about to do, so that what grows is what the readers make grow. */
async function startWarm() {
  const folder = await agentFolder(YAML);
  const args = ['--agent', 'agent.yml', '--data-dir', 'data'];
  const service = await ServiceProcess.listening(args, { cwd: folder.path });
  await talk(service, 'warm');
  const dispose = async () => {
    await service[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  };
  return { service, [Symbol.asyncDispose]: dispose };
}

/** What readers that read nothing make the service keep while it streams: by itself it grows too, but not so much. */
async function expectBounded(service: ListeningService, open: () => Promise<unknown>): Promise<void> {
  for (let reader = 0; reader < READERS; reader += 1) await open();
  const before = residentBytes(service.process.pid);
  await talk(service, 's');
  const grown = residentBytes(service.process.pid) - before;
  expect(grown).toBeLessThan((READERS * STREAMED_BYTES) / 2);
}

function checkRecord(frames: readonly unknown[], log: readonly ResumableFrame[]): void {
  const record = new StreamRecord();
  for (const frame of frames) record.add(frame);
  expect(record.events).toEqual(log);
  const replies = log.filter(({ event }) => event === 'response');
  expect(replies).toHaveLength(TURNS);
  for (const { turnId, data } of replies) expect(data).toEqual({ content: record.textOf(turnId) });
}

/** An event stream of which nothing is read until it is iterated. */
async function openEventStream({ port }: ListeningService): Promise<IncomingMessage> {
  const headers = { accept: 'text/event-stream' };
  const request = get({ port, host: '127.0.0.1', path: '/api/sessions/s/events', headers, agent: false });
  const [response]: IncomingMessage[] = await once(request, 'response');
  if (response?.statusCode !== 200) throw new Error(`refused: ${response?.statusCode}`);
  return response;
}

async function readEventStream(response: IncomingMessage, head: number): Promise<unknown[]> {
  const frames: unknown[] = [];
  let lastId: string | undefined;
  const parser = createParser({
    onEvent: ({ id, data }) => {
      frames.push(JSON.parse(data));
      lastId = id;
    },
  });
  for await (const text of response.setEncoding('utf8')) {
    parser.feed(String(text));
    if (lastId === String(head)) break;
  }
  return frames;
}

describe('readers that stop reading for a while', () => {
  verifies(
    'stream.slow',
    'over server-sent events, in bounded memory',
    async () => {
      await using setup = await startWarm();
      const { service } = setup;
      const streams: IncomingMessage[] = [];
      await expectBounded(service, async () => streams.push(await openEventStream(service)));
      const log = await readLog(service, 's');
      const [stream, ...others] = streams;
      if (!stream) throw new Error('no stream');
      checkRecord(await readEventStream(stream, log.length), log);
      for (const other of others) other.destroy();
    },
    TIMEOUT_MS,
  );

  verifies(
    'stream.slow',
    'over WebSocket, in bounded memory',
    async () => {
      await using setup = await startWarm();
      const { service } = setup;
      const sockets: RawWebSocket[] = [];
      const open = () => RawWebSocket.open(service.port, '/?session=s&after=0');
      await expectBounded(service, async () => sockets.push(await open()));
      const log = await readLog(service, 's');
      const { texts } = (await sockets[0]?.readUntil(`"seq":${log.length}`)) ?? { texts: [] };
      checkRecord(
        texts.map((text) => JSON.parse(text)),
        log,
      );
      for (const socket of sockets) socket[Symbol.dispose]();
    },
    TIMEOUT_MS,
  );
});
