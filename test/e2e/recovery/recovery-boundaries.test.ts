import { describe, expect } from 'vitest';
import { z } from 'zod';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import type { Envelope } from '../../../src/core/log/envelope.ts';
import { encodeResumable } from '../../../src/gateway/stream/resumable-frames.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { ofSession } from '../../../src/runtime/sessions/journal.ts';
import { type Boundary, crashingStore, keptOpen } from '../../support/log/crashing-store.ts';
import { pairingFaults } from '../../support/log/paired-history.ts';
import { checkTurn, type PrescribedTurn } from '../../support/models/prescribed-turn.ts';
import { eventually } from '../../support/project/eventually.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { eventsOf, viewOf } from '../../support/sessions/session-api.ts';
import { type Frame, RecordingSocket } from '../../support/sockets/recording-socket.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { verifies } from '../requirements.ts';

const done = (results: string): string => `Done: ${results}`;
/** One turn: two steps, two parallel calls in the first. */
const YAML = JSON.stringify({
  llm: {
    provider: 'scripted',
    model: 'offline',
    script: [
      { when: 'hello', reply: 'Hello.' },
      {
        when: 'work',
        reply: 'Working.',
        toolCalls: [{ tool: 'look' }, { tool: 'pay' }],
        afterTools: done('{{results}}'),
      },
    ],
  },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
  mcpServers: { tools: { type: 'stdio', command: 'none' } },
});
const prescribed: PrescribedTurn = {
  message: 'work',
  reply: 'Working.',
  calls: [
    { toolName: 'look', arguments: {}, text: 'look' },
    { toolName: 'pay', arguments: {}, text: 'pay', mayBeInterrupted: true },
  ],
  afterTools: (results) => done(results.join('\n')),
};
/** Requested, first step, two settled calls, last step. */
const APPENDS = 5;
const BOUNDARIES: Boundary[] = Array.from({ length: APPENDS }, (_, index) => index + 1).flatMap((append) => [
  { append, when: 'before' },
  { append, when: 'after' },
]);

const Answer = z.object({ response: z.string() });

/** A process on the log; its tools answer at once, and payments are counted. */
function start(store: EventStore, payments: string[]): Promise<RunningService> {
  const connector = new DirectedTools({ look: { repeatable: true }, pay: {} }, ({ toolName, answer }) => {
    if (toolName === 'pay') payments.push('paid');
    answer(toolName);
  });
  return RunningService.start({ yaml: YAML, adapters: { store, connector } });
}

/** The same message with the same key, as a client sends it that does not know whether it was heard. */
const say = (service: RunningService): Promise<Response> =>
  service.post('/api/message-sync', { message: 'work' }, { 'Idempotency-Key': 'k' });

const greet = (service: RunningService): Promise<Response> =>
  service.post('/api/message-sync', { message: 'hello' }, { 'Idempotency-Key': 'hello' });

/** What a client that reads along has received, when the process is gone. */
async function seenUntilClosed(service: RunningService, use: () => Promise<void>): Promise<Frame[]> {
  using reader = new RecordingSocket(`ws://127.0.0.1:${service.port}/?session=default&after=0&reasoning=1`);
  await reader.until('resumed');
  await use();
  await service.close();
  await reader.closed;
  return reader.frames;
}

/** Frames that tell of something that is not in the log: other events, or the text of a turn that has not begun. */
function unloggedFrames(frames: readonly Frame[], logged: readonly Envelope[]): Frame[] {
  const begun = logged.flatMap(({ event }) => (event.type === 'turn.started' ? [event.turnId] : []));
  const frameAt = new Map(logged.map((envelope) => [envelope.seq, encodeResumable(envelope)]));
  return frames.filter(({ event, seq, turnId }, index) => {
    if (event === 'resumed') return index !== 0;
    if (seq === undefined) return event !== 'error' && !begun.some((begunId) => begunId === turnId);
    return frameAt.get(Number(seq)) !== JSON.stringify(frames[index]);
  });
}

/** Runs a process on the log until it crashes; how it began is told by whether a client speaks to it. */
async function crash(
  log: EventStore,
  boundary: Boundary,
  payments: string[],
  speaks: boolean,
): Promise<boolean> {
  const { store, crashed } = crashingStore(log, boundary);
  const service = await start(store, payments);
  if (speaks) {
    const seen = await seenUntilClosed(service, async () => expect((await say(service)).status).toBe(500));
    expect(unloggedFrames(seen, ofSession(await log.read('default', 0)))).toEqual([]);
    return crashed();
  }
  await using _ = service;
  await eventually(async () => crashed() || (await log.sessions({ open: true })).length === 0, Boolean);
  return crashed();
}

async function checkRecovered(log: EventStore, payments: string[]): Promise<void> {
  await using service = await start(keptOpen(log), payments);
  // What was accepted is finished though nobody asks.
  await eventually(async () => (await log.sessions({ open: true })).length === 0, Boolean);
  const answer = await say(service);
  expect(answer.status).toBe(200);
  const { response } = Answer.parse(await answer.json());
  expect(payments.length).toBeLessThanOrEqual(1);

  const view = await viewOf(service, 'default');
  expect(view).toMatchObject({
    status: 'idle',
    turns: { requested: 1, completed: 1, failed: 0, cancelled: 0, waiting: 0 },
    toolCalls: 2,
  });
  expect(pairingFaults(view.history)).toEqual([]);
  expect(view.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant']);
  const paid = view.history.find((entry) => entry.role === 'tool' && entry.name === 'pay');
  expect(paid?.content).toMatch(payments.length === 0 ? /interrupted/ : /^pay$|interrupted/);

  const logged = await log.read('default', 0);
  const page = await eventsOf(service, 'default');
  checkTurn(page, prescribed);
  expect(page.at(-1)).toMatchObject({ event: 'response', data: { content: response } });
  expect(page.map(({ seq, time }) => ({ seq, time }))).toEqual(
    logged.map(({ seq, time }) => ({ seq, time: new Date(time).toISOString() })),
  );
  expect(page.map(({ seq }) => seq)).toEqual(page.map((_, index) => index + 1));
  const count = (name: string) => page.filter(({ event }) => event === name).length;
  expect([count('message'), count('response'), count('toolCall'), count('toolResult')]).toEqual([1, 1, 2, 2]);
}

async function openSqlite() {
  const directory = await tempDirectory();
  const log = await openSqliteEventStore({ directory: directory.path, log: recordingLog() });
  const close = async () => {
    await log[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  };
  return { log, close };
}

describe('a crash at a boundary of the log', () => {
  verifies('recovery.boundaries', 'the turn has as many appends as are tried', async () => {
    const log = memoryEventStore();
    const seen: number[] = [];
    const counting: EventStore = {
      ...keptOpen(log),
      append: async (...args) => {
        seen.push(args[2].length);
        return log.append(...args);
      },
    };
    await using service = await start(counting, []);
    expect((await say(service)).status).toBe(200);
    expect(seen).toEqual([2, 3, 1, 1, 2]);
  });

  for (const when of ['before', 'after'] as const) {
    verifies(
      'recovery.boundaries',
      `${when} the append of a message whose reply was there at once, on disk`,
      async () => {
        const { log, close } = await openSqlite();
        const { store } = crashingStore(log, { append: 1, when });
        const crashing = await start(store, []);
        const seen = await seenUntilClosed(crashing, async () =>
          expect((await greet(crashing)).status).toBe(500),
        );
        expect(unloggedFrames(seen, ofSession(await log.read('default', 0)))).toEqual([]);
        // One append has the whole turn, or nothing of it is there.
        expect(await log.read('default', 0)).toHaveLength(when === 'before' ? 0 : 4);
        await using service = await start(keptOpen(log), []);
        const answer = await greet(service);
        expect([answer.status, Answer.parse(await answer.json()).response]).toEqual([200, 'Hello.']);
        expect(await log.read('default', 0)).toHaveLength(4);
        await close();
      },
    );
  }

  for (const boundary of BOUNDARIES) {
    const title = `${boundary.when} append ${boundary.append}`;
    verifies('recovery.boundaries', `${title}, on disk`, async () => {
      const { log, close } = await openSqlite();
      const payments: string[] = [];
      expect(await crash(log, boundary, payments, true)).toBe(true);
      await checkRecovered(log, payments);
      await close();
    });

    verifies('recovery.boundaries', `${title}, and once more at each boundary of the recovery`, async () => {
      for (const second of BOUNDARIES) {
        const log = memoryEventStore();
        const payments: string[] = [];
        expect(await crash(log, boundary, payments, true)).toBe(true);
        await crash(log, second, payments, false);
        await checkRecovered(log, payments);
      }
    });
  }
});
