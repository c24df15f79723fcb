import { describe, expect } from 'vitest';
import { z } from 'zod';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { Journal } from '../../../src/runtime/sessions/journal.ts';
import { pairingFaults } from '../../support/log/paired-history.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { textOf } from '../../support/models/steps.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { foldedView } from '../../support/sessions/folded-view.ts';
import { eventsOf, listSessions, viewOf } from '../../support/sessions/session-api.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { verifies } from '../requirements.ts';

const YAML = `${SCRIPTED}server: { drainTimeoutMs: 0 }
limits: { requestsPerMinute: false }
mcpServers: { tools: { type: stdio, command: none } }
`;
const SYNC = '/api/message-sync';

interface Setup extends AsyncDisposable {
  readonly model: DirectedModel;
  readonly tools: DirectedTools;
  readonly store: EventStore;
  readonly service: RunningService;
}

async function start(): Promise<Setup> {
  const model = new DirectedModel();
  const tools = new DirectedTools({ look: { repeatable: true }, pay: {} });
  const store = memoryEventStore();
  const service = await RunningService.start({ yaml: YAML, adapters: { model, connector: tools, store } });
  return { model, tools, store, service, [Symbol.asyncDispose]: () => service.close() };
}

/** Says something in a session and gets it answered; the model has had so many calls before. */
async function talk({ model, service }: Setup, sessionId: string, message: string): Promise<void> {
  const index = model.calls.length;
  const sync = service.post(SYNC, { sessionId, message });
  (await model.call(index)).answer(`re: ${message}`);
  expect((await sync).status).toBe(200);
}

/** A turn in the session `s` that has two calls under way, of which `look` is settled. */
async function openTurn({ model, tools, service }: Setup): Promise<{ answer: Promise<Response> }> {
  const index = model.calls.length;
  using client = await service.connect('?session=s');
  const answer = service.post(SYNC, { sessionId: 's', message: 'work' });
  const call = await model.call(index);
  call.say('Working.');
  call.askFor({ name: 'look', callId: 'look' }, { name: 'pay', callId: 'pay' });
  await tools.call(1);
  tools.calls.find(({ toolName }) => toolName === 'look')?.answer('seen');
  await client.until((frames) => frames.some(({ event }) => event === 'toolResult'));
  return { answer };
}

const Forked = z.strictObject({
  status: z.literal('forked'),
  sessionId: z.string(),
  from: z.string(),
  at: z.int(),
  head: z.int(),
  timestamp: z.iso.datetime({ precision: 3 }),
});

async function fork({ service }: Setup, from: string, body: object = {}): Promise<z.infer<typeof Forked>> {
  const response = await service.post(`/api/sessions/${from}/fork`, body);
  expect(response.status).toBe(200);
  return Forked.parse(await response.json());
}

const remove = ({ service }: Setup, sessionId: string): Promise<Response> =>
  service.fetch(`/api/sessions/${sessionId}`, { method: 'DELETE' });

describe('the list of sessions', () => {
  verifies('sessions.list', async () => {
    await using setup = await start();
    const { service } = setup;
    expect(await listSessions(service)).toEqual([]);
    for (const sessionId of ['b', 'a', 'C', 'a.2']) await talk(setup, sessionId, 'hi');
    const all = await listSessions(service);
    expect(all.map(({ sessionId }) => sessionId)).toEqual(['C', 'a', 'a.2', 'b']);
    expect(all).toEqual(all.map((item) => expect.objectContaining({ ...item, status: 'idle', head: 4 })));
    const pages = [
      await listSessions(service, '?limit=3'),
      await listSessions(service, '?limit=3&after=a.2'),
      await listSessions(service, '?after=b'),
    ];
    expect(pages).toEqual([all.slice(0, 3), all.slice(3), []]);
    await service.post('/api/message', { message: 'busy', sessionId: 'b' });
    expect((await listSessions(service)).find(({ status }) => status === 'busy')?.sessionId).toBe('b');
    for (const query of ['?limit=0', '?limit=1001', '?limit=x', '?after=', '?after=a%2Fb']) {
      expect(await errorOf(await service.fetch(`/api/sessions${query}`), 400)).toMatchObject({
        code: 'INVALID_REQUEST',
      });
    }
  });

  verifies('sessions.list', 'asking for a session does not make it', async () => {
    await using setup = await start();
    const { service } = setup;
    await errorOf(await service.fetch('/api/sessions/nobody'), 404);
    await service.post('/api/sessions/nobody/cancel');
    expect(await listSessions(service)).toEqual([]);
  });
});

describe('the view of a session', () => {
  verifies('sessions.view', async () => {
    await using setup = await start();
    const { service, tools, model } = setup;
    await talk(setup, 's', 'hello');
    const { answer: sync } = await openTurn(setup);
    await service.post('/api/message', { sessionId: 's', message: 'behind' });
    const view = await viewOf(service, 's');
    expect(view).toMatchObject({
      sessionId: 's',
      status: 'busy',
      turns: { requested: 3, completed: 1, failed: 0, cancelled: 0, waiting: 1 },
      toolCalls: 2,
      openTurnId: expect.any(String),
    });
    expect(view.at).toBe(view.head);
    expect(view.createdAt <= view.updatedAt).toBe(true);
    expect(view.history).toEqual([
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 're: hello' },
      { role: 'user', content: 'work' },
      {
        role: 'assistant',
        content: 'Working.',
        toolCalls: [
          { callId: 'look', name: 'look', arguments: {} },
          { callId: 'pay', name: 'pay', arguments: {} },
        ],
      },
      { role: 'tool', callId: 'look', name: 'look', content: 'seen' },
    ]);
    tools.calls.find(({ toolName }) => toolName === 'pay')?.answer('paid');
    (await model.call(2)).answer('done');
    (await model.callFor('behind')).answer('last');
    await sync;
  });

  verifies('sessions.at', async () => {
    await using setup = await start();
    const { service, store, tools, model } = setup;
    await talk(setup, 's', 'hello');
    const { answer: sync } = await openTurn(setup);
    tools.calls.find(({ toolName }) => toolName === 'pay')?.answer('paid');
    (await model.call(2)).answer('done');
    await sync;
    await service.post('/api/reset', { sessionId: 's' });
    await talk(setup, 's', 'after the reset');
    const log = await new Journal(store, new LocalBus(() => undefined)).read('s', 0);
    expect(log.length).toBeGreaterThan(15);
    for (const { seq } of log) {
      const folded = foldedView(log.slice(0, seq), log.length);
      expect(await viewOf(service, 's', `?at=${seq}`)).toEqual(folded);
    }
    expect(await viewOf(service, 's')).toEqual(foldedView(log, log.length));
    for (const at of ['0', `${log.length + 1}`, '-1', 'x', '1.5', '']) {
      const error = await errorOf(await service.fetch(`/api/sessions/s?at=${at}`), 400);
      expect(error).toMatchObject({ code: 'INVALID_REQUEST', details: { field: 'at' } });
    }
  });

  verifies('sessions.unknown', async () => {
    await using setup = await start();
    const { service } = setup;
    const responses = [
      await service.fetch('/api/sessions/nobody'),
      await service.fetch('/api/sessions/nobody?at=1'),
      await service.fetch('/api/sessions/nobody/images/1'),
      await remove(setup, 'nobody'),
      await service.post('/api/sessions/nobody/fork'),
    ];
    for (const response of responses) {
      expect(await errorOf(response, 404)).toMatchObject({
        code: 'SESSION_NOT_FOUND',
        details: { sessionId: 'nobody' },
      });
    }
    const badId = await errorOf(await service.fetch('/api/sessions/a%20b'), 400);
    expect(badId).toMatchObject({ code: 'INVALID_REQUEST', details: { field: 'sessionId' } });
  });
});

describe('a fork', () => {
  verifies('sessions.fork', async () => {
    await using setup = await start();
    const { model, service } = setup;
    await talk(setup, 's', 'one');
    await talk(setup, 's', 'two');
    const forked = await fork(setup, 's', { at: 4, sessionId: 'other' });
    expect(forked).toMatchObject({ sessionId: 'other', from: 's', at: 4, head: 5 });
    const events = await eventsOf(service, 'other');
    expect(events.slice(0, 4)).toEqual((await eventsOf(service, 's')).slice(0, 4));
    expect(events.slice(4)).toMatchObject([{ event: 'forked', seq: 5, data: { from: 's', at: 4 } }]);
    // Each goes on from the shared past, and knows nothing of the other.
    await talk(setup, 's', 'three');
    await talk(setup, 'other', 'else');
    const texts = (index: number) => model.calls[index]?.request.messages.map(textOf);
    expect(texts(2)).toEqual(['one', 're: one', 'two', 're: two', 'three']);
    expect(texts(3)).toEqual(['one', 're: one', 'else']);
  });

  verifies('sessions.fork', 'from the middle of a turn cancels that turn in the fork alone', async () => {
    await using setup = await start();
    const { model, service, tools } = setup;
    const { answer: sync } = await openTurn(setup);
    const { head } = await viewOf(service, 's');
    const { sessionId, at } = await fork(setup, 's');
    expect(sessionId).toMatch(/^fork-[0-9a-f-]{36}$/);
    expect(at).toBe(head);
    const view = await viewOf(service, sessionId);
    expect(view).toMatchObject({ status: 'idle', openTurnId: null, turns: { cancelled: 1, waiting: 0 } });
    expect(pairingFaults(view.history)).toEqual([]);
    await talk(setup, sessionId, 'what now?');
    expect(pairingFaults((model.calls.at(-1)?.request.messages ?? []).slice())).toEqual([]);
    // No tool ran for the fork, and the turn it was forked from goes on.
    expect(tools.calls).toHaveLength(2);
    tools.calls.find(({ toolName }) => toolName === 'pay')?.answer('paid');
    (await model.call(2)).answer('done');
    expect(await (await sync).json()).toMatchObject({ response: 'Working.\n\ndone' });
  });

  verifies('sessions.fork', 'works at every moment', async () => {
    await using setup = await start();
    const { service, model, tools } = setup;
    const { answer: sync } = await openTurn(setup);
    await service.post('/api/message', { sessionId: 's', message: 'waits' });
    tools.calls.find(({ toolName }) => toolName === 'pay')?.answer('paid');
    (await model.call(1)).answer('done');
    await sync;
    (await model.callFor('waits')).answer('last');
    const { head } = await viewOf(service, 's');
    for (let at = 1; at <= head; at += 1) {
      const { sessionId } = await fork(setup, 's', { at });
      const view = await viewOf(service, sessionId);
      expect(view).toMatchObject({ status: 'idle', openTurnId: null, turns: { waiting: 0 } });
      expect(pairingFaults(view.history)).toEqual([]);
      await talk(setup, sessionId, `on from ${at}`);
    }
    expect(await listSessions(service)).toHaveLength(head + 1);
  });

  verifies('sessions.fork', 'of a fork, which stays when those before it are deleted', async () => {
    await using setup = await start();
    const { service } = setup;
    await talk(setup, 's', 'one');
    await fork(setup, 's', { sessionId: 'child' });
    await talk(setup, 'child', 'two');
    const grandchild = await fork(setup, 'child', { sessionId: 'grandchild' });
    expect(grandchild).toMatchObject({ from: 'child', at: 9, head: 10 });
    await remove(setup, 's');
    await remove(setup, 'child');
    await talk(setup, 'grandchild', 'three');
    expect((await viewOf(service, 'grandchild')).history.map(({ content }) => content)).toEqual([
      ...['one', 're: one', 'two', 're: two', 'three', 're: three'],
    ]);
  });

  verifies('sessions.fork-refused', async () => {
    await using setup = await start();
    const { service } = setup;
    await talk(setup, 's', 'one');
    await talk(setup, 'taken', 'two');
    const bodies = [
      ...[0, 5, -1, 1.5, '1', {}].map((at) => ({ body: { at }, field: 'at' })),
      ...['taken', 's', 'a b', '', 5].map((sessionId) => ({ body: { sessionId }, field: 'sessionId' })),
    ];
    for (const { body, field } of bodies) {
      const error = await errorOf(await service.post('/api/sessions/s/fork', body), 400);
      expect(error).toMatchObject({ code: 'INVALID_REQUEST', details: { field } });
    }
    expect((await listSessions(service)).map(({ sessionId }) => sessionId)).toEqual(['s', 'taken']);
  });

  verifies('sessions.fork-refused', 'of many onto one id, all but one', async () => {
    await using setup = await start();
    const { service } = setup;
    await talk(setup, 's', 'one');
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => service.post('/api/sessions/s/fork', { sessionId: 'one' })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)]);
    expect((await viewOf(service, 'one')).head).toBe(5);
  });
});

describe('a deletion', () => {
  verifies('sessions.delete', async () => {
    await using setup = await start();
    const { service, store } = setup;
    await talk(setup, 's', 'one');
    const response = await remove(setup, 's');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      status: 'deleted',
      sessionId: 's',
      timestamp: expect.stringMatching(/Z$/),
    });
    await errorOf(await service.fetch('/api/sessions/s'), 404);
    await errorOf(await remove(setup, 's'), 404);
    expect(await listSessions(service)).toEqual([]);
    expect(await store.read('s', 0)).toEqual([]);
    await talk(setup, 's', 'anew');
    expect((await eventsOf(service, 's')).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect((await viewOf(service, 's')).history).toMatchObject([
      { role: 'user', content: 'anew' },
      { role: 'assistant' },
    ]);
  });

  verifies('sessions.delete', 'while a turn runs cancels it first', async () => {
    await using setup = await start();
    const { service, model, tools } = setup;
    const { answer: running } = await openTurn(setup);
    const waiting = service.post(SYNC, { sessionId: 's', message: 'behind' });
    using client = await service.connect('?session=s');
    expect((await remove(setup, 's')).status).toBe(200);
    expect(tools.calls.find(({ toolName }) => toolName === 'pay')?.signal?.aborted).toBe(true);
    expect(await errorOf(await running, 409)).toMatchObject({
      code: 'TURN_CANCELLED',
      details: { reason: expect.stringContaining('deleted') },
    });
    // Cancelled with the session, or first in the new one.
    const behind = await Promise.race([waiting, model.callFor('behind')]);
    if (behind instanceof Response) await errorOf(behind, 409);
    else behind.answer('anew');
    await waiting;
    await client.settled();
    await talk(setup, 's', 'again');
  });

  verifies('sessions.delete', 'asked for many times at once is done once', async () => {
    await using setup = await start();
    await talk(setup, 's', 'one');
    const responses = await Promise.all(Array.from({ length: 6 }, () => remove(setup, 's')));
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(new Set(statuses).difference(new Set([200, 404, 503]))).toEqual(new Set());
    await talk(setup, 's', 'anew');
  });
});

describe('whoever follows a deleted session', () => {
  verifies(
    'sessions.delete',
    'is told and let go, so that the next session of that id is not taken for it',
    async () => {
      await using setup = await start();
      const { service } = setup;
      await talk(setup, 's', 'hello');
      const url = `ws://127.0.0.1:${service.port}/?session=s&after=0`;
      const socket = new WebSocket(url);
      const closed = new Promise<{ code: number; reason: string }>((resolve) => {
        socket.addEventListener('close', (event) => resolve(event), { once: true });
      });
      const frames: string[] = [];
      const caughtUp = new Promise<void>((resolve) => {
        socket.addEventListener('message', ({ data }) => {
          frames.push(z.object({ event: z.string() }).parse(JSON.parse(String(data))).event);
          if (frames.at(-1) === 'response') resolve();
        });
      });
      await caughtUp;
      const stream = await service.fetch('/api/sessions/s/events', {
        headers: { Accept: 'text/event-stream' },
      });
      expect((await service.fetch('/api/sessions/s', { method: 'DELETE' })).status).toBe(200);
      expect(await closed).toMatchObject({ code: 1000, reason: 'the session was deleted' });
      expect(frames.at(-1)).toBe('deleted');
      expect(await stream.text()).toContain('"event":"deleted"');
    },
  );
});
