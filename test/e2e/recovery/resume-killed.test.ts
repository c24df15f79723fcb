import { describe, expect } from 'vitest';
import { connect, type StreamPosition } from '../../../src/client/session-client.ts';
import type { ResumableFrame } from '../../../src/wire/frames.ts';
import { byTurn, checkTurn, type PrescribedTurn } from '../../support/models/prescribed-turn.ts';
import { seededRandom } from '../../support/project/seeded-random.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { readLog } from '../../support/sessions/session-log.ts';
import { EventSourceStream } from '../../support/sockets/event-source.ts';
import { pieceFaults } from '../../support/sockets/prescribed-stream.ts';
import { StreamRecord } from '../../support/sockets/stream-record.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { verifies } from '../requirements.ts';

const KILLS = Number(process.env.RESUME_KILLS ?? 100);
const SEED = Number(process.env.RESUME_SEED ?? 20_250_601);
/** Most frames that are read before the next kill. */
const MAX_LIFE = 30;

const WORDS = 'words that are streamed 😀 one by one, ünd nïcht all of them are ASCII. '.repeat(6);
const story = (id: string): string => `Story ${id}: ${WORDS}`;
const toldBy = (results: string): string => `The tools said ${results}. ${WORDS}`;
const YAML = JSON.stringify({
  llm: {
    provider: 'scripted',
    model: 'offline',
    script: [
      {
        when: '^story (\\d+)$',
        reply: story('$1'),
        toolCalls: [
          { tool: 'echo', arguments: { message: 'echo of $1' } },
          { tool: 'add', arguments: { a: 1, b: 2 } },
        ],
        afterTools: toldBy('{{results}}'),
        delayMs: 0,
      },
      { when: '^slow story', reply: WORDS, delayMs: 1 },
    ],
  },
  mcpServers: { tools: scriptableServer() },
  limits: { messagesPerMinute: false, requestsPerMinute: false, connectionsPerAddress: false },
  server: { drainTimeoutMs: 0 },
});

const messageOfTurn = (turn: number): string => (turn % 4 === 3 ? `slow story ${turn}` : `story ${turn}`);

/** What the script has the model say and call at such a message. */
function prescribe(message: string): PrescribedTurn {
  const [, id] = /^story (\d+)$/.exec(message) ?? [];
  if (id === undefined) return { message, reply: WORDS };
  const echo = `echo of ${id}`;
  return {
    message,
    reply: story(id),
    calls: [
      { toolName: 'echo', arguments: { message: echo }, text: echo },
      { toolName: 'add', arguments: { a: 1, b: 2 }, text: '3', structuredContent: { sum: 3 } },
    ],
    afterTools: (results) => toldBy(results.join('\n')),
  };
}

/** Reads up to so many frames from where the record ends, then drops the connection. */
type Life = (service: RunningService, record: StreamRecord, frames: number) => Promise<void>;

/** A conversation goes on for as long as the reader is killed; at the end it has exactly what the script says. */
async function killAndResume(live: Life): Promise<void> {
  const random = seededRandom(SEED);
  await using directory = await tempDirectory();
  await using service = await RunningService.start({ yaml: YAML, dataDir: directory.path });
  const record = new StreamRecord();
  let isOver = false;
  let turns = 0;
  const conversation = (async () => {
    for (; !isOver; turns += 1) {
      const message = messageOfTurn(turns);
      const reply = await service.post('/api/message-sync', { message, sessionId: 's' });
      expect(reply.status).toBe(200);
    }
  })();
  let kills = 0;
  for (; kills < KILLS; kills += 1) await live(service, record, 1 + Math.floor(random() * MAX_LIFE));
  isOver = true;
  await conversation;
  const log = await readLog(service, 's');
  while (record.seq < log.length) await live(service, record, MAX_LIFE);
  expect(record.events.map(toText)).toEqual(log.map(toText));
  expect(turns).toBeGreaterThan(2);
  const told = [...byTurn(record.events).values()];
  expect(told).toHaveLength(turns);
  for (const [turn, frames] of told.entries()) checkTurn(frames, prescribe(messageOfTurn(turn)));
  expect(pieceFaults(record.pieces, record.events, prescribe)).toEqual([]);
  for (const { event, turnId, data } of record.events)
    if (event === 'response') expect({ content: record.textOf(turnId) }).toEqual(data);
}

const toText = (frame: ResumableFrame): string => JSON.stringify(frame);

// A seed that fails has found something.
describe('a reader that is killed and resumed at random', { retry: 0 }, () => {
  const timeoutMs = 30_000 + KILLS * 200;

  verifies(
    'stream.killed',
    'over WebSocket, with the client of the package',
    async () => {
      let position: StreamPosition | undefined;
      await killAndResume(async (service, record, frames) => {
        // As from a file: nothing of the last life is left but this.
        const stored = position && JSON.parse(JSON.stringify(position));
        using session = connect({ url: service.url, session: 's', ...(stored && { position: stored }) });
        let read = 0;
        for await (const event of session) {
          record.add(event);
          read += 1;
          // After a reply there may be nothing more to wait for.
          if (read === frames || event.event === 'response') break;
        }
        position = session.position;
        expect(position).toMatchObject({ seq: record.seq, offset: record.offset });
      });
    },
    timeoutMs,
  );

  verifies(
    'stream.killed',
    'over server-sent events',
    async () => {
      let lastEventId: string | undefined;
      await killAndResume(async (service, record, frames) => {
        let read = 0;
        const stream = await EventSourceStream.open(`${service.url}/api/sessions/s/events`, lastEventId);
        for await (const { id, frame } of stream) {
          const before = record.seq;
          record.add(frame);
          lastEventId = id ?? lastEventId;
          read += 1;
          // After a reply there may be nothing more to wait for.
          if (read > frames || (record.seq > before && record.events.at(-1)?.event === 'response')) break;
        }
      });
    },
    timeoutMs,
  );
});
