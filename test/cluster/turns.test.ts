import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ClusterNode } from '../support/cluster/cluster-node.ts';
import { answerOf, answersOf } from '../support/cluster/node-answer.ts';
import { chunkIn, durableTexts, joinedChunks, replayed, TextSocket } from '../support/cluster/text-socket.ts';
import { expectSame, isReplied, sent, ThreeNodes } from '../support/cluster/three-nodes.ts';

const ANSWER_MS = 60_000;
const Responded = z.object({ id: z.string() });
/** Each answer has a time of its own. */
const withoutTime = (body: string): string => body.replace(/"timestamp":"[^"]*"/, '');

let three: ThreeNodes;
beforeAll(async () => {
  three = await ThreeNodes.start();
});
afterAll(() => three[Symbol.asyncDispose]());

describe('a turn', () => {
  it('is heard on every node alike: frames and chunks', async () => {
    await three.begin('heard');
    const queries = ['?session=heard&after=0', '?session=heard'];
    const sockets = await Promise.all(
      three.nodes.flatMap((node) => queries.map((query) => TextSocket.open(node.socketUrl(query)))),
    );
    const resumed = sockets.filter((_, index) => index % 2 === 0);
    await Promise.all(resumed.map((socket) => socket.first('response')));
    const before = resumed.map(({ texts }) => texts.length);
    await three.owner.post('/api/message', { message: 'story', sessionId: 'heard' });
    const ends = sockets.map((socket, index) => socket.until('the story', isReplied(2 - (index % 2))));
    await Promise.all(ends);
    const live = resumed.map(({ texts }, index) => texts.slice(before[index]));
    for (const texts of live)
      expect(texts.filter((text) => chunkIn(text) !== null).length).toBeGreaterThan(1);
    expectSame(live.map(joinedChunks));
    const plain = sockets.filter((_, index) => index % 2 === 1).map(({ texts }) => texts);
    for (const texts of plain)
      expect(texts.filter((text) => chunkIn(text) !== null).length).toBeGreaterThan(1);
    expectSame(plain.map(joinedChunks));
    for (const socket of sockets) socket[Symbol.dispose]();
  });

  it('is begun on any node, and recorded by the owner of the session', async () => {
    await three.begin('begun');
    using socket = await TextSocket.open(three.second.socketUrl('?session=begun&after=0'));
    const synchronous = await three.third.post('/api/message-sync', {
      message: 'hello',
      sessionId: 'other',
    });
    expect(synchronous.status).toBe(200);
    const asked = await three.third.post('/api/message', { message: 'hello again', sessionId: 'begun' });
    expect(asked.status).toBe(200);
    await socket.until('two replies', isReplied(2));
    socket.send({ type: 'message', content: 'and again', clientMessageId: 'm1' });
    await socket.until('three replies', isReplied(3));
    expect(await three.cluster.ownerOf('begun')).toBe(0);
    const head = await three.headOf('begun');
    expect(durableTexts(socket)).toEqual(
      await replayed(three.owner.socketUrl('?session=begun&after=0'), head),
    );
  });

  it('follows a response that another node has begun', async () => {
    const respond = async (node: ClusterNode, more: object = {}) => {
      const asked = await node.post('/v1/responses', { model: 'default', input: 'hello', ...more });
      return { status: asked.status, response: Responded.parse(await asked.json()) };
    };
    const first = await respond(three.owner);
    const second = await respond(three.second, { previous_response_id: first.response.id });
    const third = await respond(three.third, { previous_response_id: second.response.id });
    expect([first.status, second.status, third.status]).toEqual([200, 200, 200]);
  });

  it('is begun once, whichever nodes are told of the message', async () => {
    await three.begin('once');
    const first = await TextSocket.open(three.second.socketUrl('?session=once&after=0'));
    first.send({ type: 'message', content: 'tell me', clientMessageId: 'm1' });
    await first.until('two replies', isReplied(2));
    first[Symbol.dispose]();
    using again = await TextSocket.open(three.third.socketUrl('?session=once&after=0'));
    again.send({ type: 'message', content: 'tell me', clientMessageId: 'm1' });
    await again.first('accepted');
    const key = { 'Idempotency-Key': 'k1' };
    const answers: string[] = [];
    for (const node of [three.third, three.owner, three.second]) {
      const response = await node.post(
        '/api/message-sync',
        { message: 'with a key', sessionId: 'once' },
        key,
      );
      answers.push(`${response.status} ${withoutTime(await response.text())}`);
    }
    expect(answers[0]).toContain('200 ');
    expectSame(answers);
    const reused = await three.second.post(
      '/api/message-sync',
      { message: 'another', sessionId: 'once' },
      key,
    );
    expect(reused.status).toBe(422);
    const { body } = await answerOf(three.owner, '/api/sessions/once');
    expect(body).toContain('"turns":{"requested":3,"completed":3,');
  });

  it('is cancelled, refused as busy and reset from any node', async () => {
    await three.begin('control');
    using socket = await TextSocket.open(three.second.socketUrl('?session=control&after=0'));
    await three.owner.post('/api/message', { message: 'story', sessionId: 'control' });
    await socket.first('chunk');
    const busy = { message: 'now', sessionId: 'control', whenBusy: 'reject' };
    const refusals = await answersOf(three.nodes, '/api/message', sent('POST', busy));
    expect(refusals[0]).toMatchObject({ status: 409 });
    expectSame(refusals);
    const cancelled = await answerOf(three.second, '/api/sessions/control/cancel', sent('POST', {}));
    expect(cancelled).toMatchObject({ status: 200, body: expect.stringContaining('"cancelled"') });
    const { frame } = await socket.first('error');
    expect(frame).toMatchObject({ data: { code: 'TURN_CANCELLED' } });
    expectSame(await answersOf(three.nodes, '/api/sessions/control/cancel', sent('POST', {})));
    socket.send({ type: 'reset', commandId: 'c1' });
    await socket.until('the reset', (frames) =>
      ['reset', 'done'].every((name) => frames.some(({ event }) => event === name)),
    );
    expect((await three.third.post('/api/reset', { sessionId: 'control' })).status).toBe(200);
    const views = await answersOf(three.nodes, '/api/sessions/control');
    expect(views[0]?.body).toContain('"history":[]');
    expectSame(views);
  });

  it('waits for an approval that any node lists and any node takes', async () => {
    const callId = await three.waitingCall('approved');
    const inboxes = await answersOf(three.nodes, '/api/approvals');
    expect(inboxes[0]?.body).toContain(`"callId":"${callId}"`);
    expectSame(inboxes);
    const lists = await answersOf(three.nodes, '/api/sessions');
    expect(lists[0]?.body).toContain('"waitingApprovals"');
    expectSame(lists);
    using socket = await TextSocket.open(three.third.socketUrl('?session=approved&after=0'));
    await socket.first('toolApproval');
    const path = `/api/sessions/approved/approvals/${callId}`;
    const wrong = sent('POST', { decision: 'approve', argumentsHash: '0'.repeat(64) });
    expectSame(await answersOf(three.nodes, path, wrong));
    expect((await answerOf(three.second, path, sent('POST', { decision: 'approve' }))).status).toBe(200);
    await socket.first('response');
    // It was answered, so nobody can answer it again.
    const late = await answersOf(three.nodes, path, sent('POST', { decision: 'deny' }));
    expect(late[0]?.status).toBe(404);
    expectSame(late);
    const denied = await three.waitingCall('denied');
    using other = await TextSocket.open(three.second.socketUrl('?session=denied&after=0'));
    other.send({ type: 'deny', callId: denied, reason: 'too dear', commandId: 'c2' });
    await other.first('response');
    expect((await answerOf(three.third, '/api/sessions/denied/events')).body).toContain('too dear');
  });

  it('is shown as a statechart by every node', async () => {
    await three.begin('charted');
    const streams = await Promise.all(three.nodes.map((node) => openMachines(node, 'charted')));
    using socket = await TextSocket.open(three.third.socketUrl('?session=charted&after=0&statecharts=1'));
    await socket.first('machines');
    await three.owner.post('/api/message', { message: 'story', sessionId: 'charted' });
    const states = await Promise.all(streams.map((response) => turnStates(response)));
    expect(states[0]).toContain('"completed"');
    expectSame(states);
    await socket.until('the end of the turn', isReplied(2));
    expect(socket.texts.some((text) => text.includes('"machine":"turn"'))).toBe(true);
  });
});

describe('a session that is deleted at one node while messages come to the others', () => {
  it.each(Array.from({ length: 12 }, (_, round) => round))('keeps no client waiting (%i)', async (round) => {
    // The id is used again and again, and the next session may be as long as the one before.
    const sessionId = 'deleted-and-begun';
    const nodeOf = (number: number): ClusterNode => three.cluster.node((round + number) % 3);
    const message = { message: 'hello', sessionId };
    for (let turn = 0; turn <= round % 4; turn += 1)
      expect((await nodeOf(turn).post('/api/message-sync', message)).status).toBe(200);
    using socket = await TextSocket.open(three.third.socketUrl(`?session=${sessionId}&after=0`));
    await socket.first('response');
    const [deleted, ...answers] = await Promise.all([
      nodeOf(0).fetch(`/api/sessions/${sessionId}`, sent('DELETE')),
      ...[three.second, three.third].map((node) => node.post('/api/message-sync', message)),
    ]);
    expect(deleted.status).toBe(200);
    // In the session before its end, at its end, or in the next one.
    for (const { status } of answers) expect([200, 409, 503]).toContain(status);
    expect(await socket.closed).toBe(1000);
    expect((await three.third.post('/api/message-sync', message)).status).toBe(200);
  });
});

function openMachines(node: ClusterNode, sessionId: string): Promise<Response> {
  const headers = { Accept: 'text/event-stream' };
  const signal = AbortSignal.timeout(ANSWER_MS);
  return node.fetch(`/api/statecharts?session=${sessionId}`, { headers, signal });
}

/** The states of the session's turn, to its end. */
async function turnStates(response: Response): Promise<string[]> {
  let text = '';
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    const lines = [...text.matchAll(/^data: (.*"machine":"turn".*)\n/gm)];
    const states = lines.map(([, data = '']) => JSON.stringify(JSON.parse(data).value));
    if (states.includes('"completed"')) return states;
  }
  throw new Error(`the stream of machines ended after ${text}`);
}
