import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { WaitingApproval } from '../../../src/core/session/session-view.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { settlesWithin } from '../../../src/timing/deadline.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { errorOf, Timestamp } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { listSessions, viewOf } from '../../support/sessions/session-api.ts';
import { ResumingSocket } from '../../support/sockets/resuming-socket.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { mcpClient } from '../../support/tools/mcp-client.ts';
import { verifies } from '../requirements.ts';

const PAY = { name: 'pay', arguments: { to: 'Ann', sum: 5 } };
const Inbox = z.strictObject({ approvals: z.array(WaitingApproval), count: z.int(), timestamp: Timestamp });

async function start(approval = '{default: ask}', store?: EventStore) {
  const model = new DirectedModel();
  const tools = new DirectedTools({ pay: {} });
  const yaml = `${SCRIPTED}approval: ${approval}
server: {drainTimeoutMs: 0}
mcpServers: {bank: {type: stdio, command: none}}`;
  const service = await RunningService.start({
    yaml,
    adapters: { model, connector: tools, ...(store && { store }) },
  });
  /** A call that waits in this session; resolves when a client could see it. */
  const ask = async (sessionId: string): Promise<void> => {
    using client = await service.connect(`?session=${sessionId}`);
    client.say(`pay in ${sessionId}`);
    (await model.callFor(`pay in ${sessionId}`)).askFor({ ...PAY, callId: `c-${sessionId}` });
    await client.until((frames) => frames.some(({ event }) => event === 'toolApproval'));
  };
  const inbox = async (query = '') =>
    Inbox.parse(await (await service.fetch(`/api/approvals${query}`)).json());
  return { model, tools, service, ask, inbox, [Symbol.asyncDispose]: () => service.close() };
}

describe('calls that wait for approval', () => {
  verifies('approval.list', async () => {
    await using setup = await start();
    const { service, inbox, ask } = setup;
    expect(await inbox()).toMatchObject({ approvals: [], count: 0 });
    await ask('b');
    await ask('a');
    const { approvals, count } = await inbox();
    expect(count).toBe(2);
    expect(approvals.map(({ sessionId }) => sessionId)).toEqual(['b', 'a']);
    const [oldest] = approvals;
    if (!oldest) throw new Error('the inbox is empty');
    const { sessionId, ...first } = oldest;
    expect((await viewOf(service, 'b')).approvals).toEqual([first]);
    expect(await inbox('?limit=1')).toMatchObject({ approvals: [{ sessionId: 'b' }], count: 2 });
    for (const query of ['limit=0', 'limit=1&limit=2'])
      expect(await errorOf(await service.fetch(`/api/approvals?${query}`), 400)).toMatchObject({
        details: { field: 'limit' },
      });
    const { callId, argumentsHash } = first;
    await service.post(`/api/sessions/${sessionId}/approvals/${callId}`, {
      decision: 'approve',
      argumentsHash,
    });
    await setup.tools.call(0);
    expect(await inbox()).toMatchObject({ approvals: [{ sessionId: 'a' }], count: 1 });
    await service.fetch('/api/sessions/a', { method: 'DELETE' });
    expect(await inbox()).toMatchObject({ approvals: [], count: 0 });
  });

  verifies('approval.list', 'right after a start, too: when its open sessions are loaded', async () => {
    const log = memoryEventStore();
    {
      const kept = new WatchedStore(log);
      kept[Symbol.asyncDispose] = async () => undefined;
      await using before = await start(undefined, kept);
      for (const sessionId of ['a', 'b']) await before.ask(sessionId);
    }
    const store = new WatchedStore(log);
    const readable = Promise.withResolvers<void>();
    const isLoading = Promise.withResolvers<void>();
    store.beforeRead = () => {
      isLoading.resolve();
      return readable.promise;
    };
    await using after = await start(undefined, store);
    await isLoading.promise;
    const inbox = after.inbox();
    const inputs = after.service.fetch('/api/inputs');
    const sessions = listSessions(after.service);
    const listed = Promise.race([inbox, inputs, sessions]);
    const isTold = await settlesWithin(50, listed);
    readable.resolve();
    expect(isTold, 'a list was told').toBe(false);
    expect(await inbox).toMatchObject({ count: 2 });
    expect((await inputs).status).toBe(200);
    expect(await sessions).toMatchObject([
      { sessionId: 'a', waitingApprovals: { count: 1 } },
      { sessionId: 'b', waitingApprovals: { count: 1 } },
    ]);
  });

  verifies('approval.sessions', async () => {
    await using setup = await start();
    const { service, ask } = setup;
    await ask('a');
    const [waiting] = (await viewOf(service, 'a')).approvals;
    const expected = { count: 1, since: waiting?.since };
    expect(await listSessions(service)).toMatchObject([{ sessionId: 'a', waitingApprovals: expected }]);
    expect((await viewOf(service, 'a')).waitingApprovals).toEqual(expected);
    await service.post('/api/sessions/a/approvals/c-a', { decision: 'deny' });
    (await setup.model.call(1)).answer('Then not.');
    const [session] = await listSessions(service);
    expect(session).not.toHaveProperty('waitingApprovals');
  });
});

describe('a message behind a turn that waits for approval', () => {
  const told = {
    message: expect.stringMatching(/pay \(call c-s\) waits: .*POST \/api\/sessions\/s\/approvals\/c-s/),
    approvals: [{ callId: 'c-s', toolName: 'pay', arguments: PAY.arguments }],
  };

  verifies('approval.queued', 'by the answer of POST /api/message', async () => {
    await using setup = await start();
    const { service, ask, model } = setup;
    await ask('s');
    const answer = await service.post('/api/message', { message: 'hello', sessionId: 's' });
    expect(await answer.json()).toMatchObject({ status: 'processing', queued: told });
    const other = await service.post('/api/message', { message: 'hello', sessionId: 'other' });
    expect(await other.json()).not.toHaveProperty('queued');
    await service.post('/api/sessions/s/approvals/c-s', { decision: 'deny' });
    (await model.callFor('hello')).answer('Hi.');
  });

  verifies('approval.queued', 'by a frame, to the socket that sent it alone', async () => {
    await using setup = await start();
    await setup.ask('s');
    using plain = await setup.service.connect('?session=s');
    using resuming = new ResumingSocket(`ws://127.0.0.1:${setup.service.port}/?session=s&after=0`);
    await resuming.until((frames) => frames.length > 0);
    plain.say('hello');
    const [frame] = await plain.until((frames) => frames.length > 0);
    expect(frame).toMatchObject({ event: 'queued', data: told });
    expect(frame).not.toHaveProperty('turnId');
    resuming.send({ type: 'message', content: 'me too' });
    const frames = await resuming.until((all) => all.some(({ event }) => event === 'queued'));
    const message = frames.find(({ event, data }) => event === 'message' && data.content === 'me too');
    expect(frames.filter(({ event }) => event === 'queued')).toMatchObject([
      { data: told, turnId: message?.turnId },
    ]);
    expect(plain.frames).toHaveLength(1);
  });

  verifies('approval.queued', 'by the error, if it asked not to wait', async () => {
    await using setup = await start();
    const { service, ask, model } = setup;
    await ask('s');
    const body = { message: 'hello', sessionId: 's', whenBusy: 'reject' };
    expect(await errorOf(await service.post('/api/message-sync', body), 409)).toMatchObject({
      code: 'SESSION_BUSY',
      details: { callIds: ['c-s'], reason: expect.stringContaining('pay (call c-s)') },
    });
    expect(model.calls).toHaveLength(1);
  });

  verifies(
    'approval.queued',
    'by a log message over MCP, as is a call whose own turn needs approval',
    async () => {
      await using setup = await start();
      const { service, ask, model } = setup;
      await ask('s');
      await using client = await mcpClient(service);
      const notes: unknown[] = [];
      const { promise: behind, resolve } = Promise.withResolvers<void>();
      const { promise: own, resolve: resolveOwn } = Promise.withResolvers<void>();
      client.sdk.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
        notes.push(params.data);
        if (notes.length === 1) resolve();
        else resolveOwn();
      });
      const reply = client.chat('hello', { sessionId: 's' });
      await behind;
      expect(notes).toMatchObject([{ ...told, message: expect.stringContaining('pay (call c-s) waits') }]);
      await service.post('/api/sessions/s/approvals/c-s', { decision: 'deny' });
      (await model.call(1)).answer('Then not.');
      (await model.callFor('hello')).askFor({ ...PAY, callId: 'mine' });
      await own;
      expect(notes[1]).toMatchObject({ approvals: [{ callId: 'mine' }] });
      await service.post('/api/sessions/s/approvals/mine', { decision: 'deny' });
      (await model.call(3)).answer('Done.');
      expect(await reply).toBe('Done.');
    },
  );
});

describe('an approval with a limit', () => {
  verifies('approval.expires', async () => {
    await using setup = await start('{default: ask, expiresAfterMs: 20}');
    const { model, service, tools } = setup;
    await using client = await mcpClient(service);
    const reply = client.chat('pay', { sessionId: 's' });
    (await model.call(0)).askFor({ ...PAY, callId: 'c1' });
    const next = await model.call(1);
    expect(next.request.messages.at(-1)).toMatchObject({
      text: expect.stringContaining('nobody approved it within 20 milliseconds'),
    });
    next.answer('Nobody was there.');
    expect(await reply).toBe('Nobody was there.');
    expect(tools.calls).toEqual([]);
    using socket = new ResumingSocket(`ws://127.0.0.1:${service.port}/?session=s&after=0`);
    const frames = await socket.settled();
    const [asked] = frames.filter(({ event }) => event === 'toolApproval');
    expect(asked?.data).toMatchObject({ expiresAt: expect.stringMatching(/Z$/) });
    expect(frames.find(({ event }) => event === 'toolResult')).toMatchObject({
      cause: { kind: 'approval-expired', afterMs: 20 },
      actor: { kind: 'service' },
      data: { error: 'nobody approved it within 20 milliseconds' },
    });
  });
});
