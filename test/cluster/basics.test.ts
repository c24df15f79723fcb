import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Cluster } from '../support/cluster/cluster.ts';
import { clusterAgent } from '../support/cluster/cluster-agent.ts';
import { ClusterEngines } from '../support/cluster/cluster-engines.ts';
import type { ClusterNode } from '../support/cluster/cluster-node.ts';
import { awaited } from '../support/cluster/deadline.ts';
import { answerOf, answersOf, streamedTo } from '../support/cluster/node-answer.ts';
import { durableTexts, replayed, TextSocket } from '../support/cluster/text-socket.ts';
import { type TempDirectory, tempDirectory } from '../support/service/temp-directory.ts';
import { scriptableServer } from '../support/tools/mcp/tool-servers.ts';
import { mcpClient } from '../support/tools/mcp-client.ts';
import { initializeMcp, postMcp } from '../support/tools/mcp-http.ts';

/** Within which what one node was told is known to all. */
const SPREAD_MS = 2_000;
const ANSWER_MS = 20_000;
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const JSON_TYPE = { 'Content-Type': 'application/json' };

let engines: ClusterEngines;
let ledger: TempDirectory;
let cluster: Cluster;
/** The owner of the sessions of these tests, and the two others. */
let owner: ClusterNode;
let second: ClusterNode;
let third: ClusterNode;

beforeAll(async () => {
  engines = await ClusterEngines.start();
  ledger = await tempDirectory();
  const approval = { rules: [{ server: 'tools', tool: 'pay', policy: 'ask' }] };
  cluster = await Cluster.start({ engines, agent: clusterAgent(ledger.path, { approval }) });
  [owner, second, third] = [cluster.node(0), cluster.node(1), cluster.node(2)];
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await engines[Symbol.asyncDispose]();
  await ledger[Symbol.asyncDispose]();
});

const sent = (method: string, body?: object): RequestInit => ({
  method,
  headers: JSON_TYPE,
  ...(body && { body: JSON.stringify(body) }),
});

/** A session of the first node, with one turn. */
async function begun(sessionId: string, more: object = {}): Promise<void> {
  const response = await owner.post('/api/message-sync', { message: 'hello', sessionId, ...more });
  expect(response.status).toBe(200);
  expect(await cluster.ownerOf(sessionId)).toBe(0);
}

async function headOf(node: ClusterNode, sessionId: string): Promise<number> {
  const response = await node.fetch(`/api/sessions/${sessionId}`);
  return z.looseObject({ session: z.looseObject({ head: z.int() }) }).parse(await response.json()).session
    .head;
}

/** The call of a payment that waits for approval. */
async function waitingCall(sessionId: string): Promise<string> {
  await owner.post('/api/message', { message: `work ${sessionId} 1`, sessionId });
  const List = z.looseObject({
    approvals: z.array(z.looseObject({ sessionId: z.string(), callId: z.string() })),
  });
  const calls = await awaited(
    ANSWER_MS,
    `a call of ${sessionId} waits for approval`,
    async () => List.parse(await (await owner.fetch('/api/approvals')).json()).approvals,
    (all) => all.some((call) => call.sessionId === sessionId),
  );
  return calls.find((call) => call.sessionId === sessionId)?.callId ?? '';
}

/** Throws unless all are the same. */
function expectSame<T>(answers: readonly T[]): void {
  const [first, ...others] = answers;
  for (const other of others) expect(other).toEqual(first);
}

/** Each answer has a time of its own. */
const withoutTime = (body: string): string => body.replace(/"timestamp":"[^"]*"/, '');

type Frames = readonly { readonly event: string }[];

/** Whether so many replies are whole. */
const isReplied =
  (count: number) =>
  (frames: Frames): boolean =>
    frames.filter(({ event }) => event === 'response').length === count;

describe('what is read', () => {
  it('is the same bytes from every node', async () => {
    const imageData = { base64: PNG, mimeType: 'image/png' };
    await begun('read', { imageData });
    await owner.fetch('/api/sessions/read', sent('PATCH', { title: 'what is read' }));
    const paths = [
      ...['', '?at=2', '/events', '/events?after=1&limit=2', '/export', '/images/1', '/images/2'],
      ...['?at=99', '?at=x', '/events?after=x'],
    ].map((rest) => `/api/sessions/read${rest}`);
    const others = [
      ...['/api/sessions', '/api/sessions?query=READ', '/api/sessions?limit=1', '/api/sessions/nobody'],
      ...[
        '/api/agent',
        '/api/agents',
        '/api/config.yaml',
        '/api/mcp/servers',
        '/api/mcp/servers/tools/tools',
      ],
      ...['/api/approvals', '/api/sessions/nobody/export'],
    ];
    for (const path of [...paths, ...others]) {
      const answers = await answersOf(cluster.nodes, path);
      for (const answer of answers) expect({ path, ...answer }).toEqual({ path, ...answers[0] });
    }
    expect((await answerOf(third, '/api/sessions/read')).body).toContain('"title":"what is read"');
  });

  it('is the same stream from every node, over WebSocket and server-sent events', async () => {
    await begun('stream');
    const head = await headOf(third, 'stream');
    const replays = await Promise.all(
      cluster.nodes.map((node) => replayed(node.socketUrl('?session=stream&after=0'), head)),
    );
    expect(replays[0]).toHaveLength(head);
    expectSame(replays);
    expectSame(
      await Promise.all(
        cluster.nodes.map((node) => streamedTo(node, '/api/sessions/stream/events?after=0', String(head))),
      ),
    );
  });

  it('lists all nodes on each, and each names itself', async () => {
    // A node tells the others where it listens when it renews its lease.
    const lists = await awaited(
      SPREAD_MS,
      'all nodes know where all listen',
      () => Promise.all(cluster.nodes.map((node) => node.nodes())),
      (all) => all.flat().every(({ address }) => address !== undefined),
    );
    for (const [number, list] of lists.entries()) {
      expect(list).toHaveLength(3);
      expect(list.map(({ nodeId }) => nodeId)).toEqual(lists[0]?.map(({ nodeId }) => nodeId));
      const address = `127.0.0.1:${cluster.node(number).port}`;
      expect(list.filter(({ isThis }) => isThis)).toMatchObject([{ address }]);
    }
  });
});

describe('a turn', () => {
  it('is heard on every node alike: frames and chunks', async () => {
    await begun('heard');
    const queries = ['?session=heard&after=0', '?session=heard'];
    const sockets = await Promise.all(
      cluster.nodes.flatMap((node) => queries.map((query) => TextSocket.open(node.socketUrl(query)))),
    );
    const resumed = sockets.filter((_, index) => index % 2 === 0);
    await Promise.all(resumed.map((socket) => socket.first('response')));
    const before = resumed.map(({ texts }) => texts.length);
    await owner.post('/api/message', { message: 'story', sessionId: 'heard' });
    const ends = sockets.map((socket, index) => socket.until('the story', isReplied(2 - (index % 2))));
    await Promise.all(ends);
    const live = resumed.map(({ texts }, index) => texts.slice(before[index]));
    expect(live[0]?.filter((text) => text.includes('"chunk"')).length).toBeGreaterThan(20);
    expectSame(live);
    const plain = sockets.filter((_, index) => index % 2 === 1).map(({ texts }) => texts);
    expect(plain[0]?.filter((text) => text.includes('"chunk"')).length).toBeGreaterThan(20);
    expectSame(plain);
    for (const socket of sockets) socket[Symbol.dispose]();
  });

  it('is begun on any node, and recorded by the owner of the session', async () => {
    await begun('begun');
    using socket = await TextSocket.open(second.socketUrl('?session=begun&after=0'));
    const synchronous = await third.post('/api/message-sync', {
      message: 'hello',
      sessionId: 'other',
    });
    expect(synchronous.status).toBe(200);
    const asked = await third.post('/api/message', { message: 'hello again', sessionId: 'begun' });
    expect(asked.status).toBe(200);
    await socket.until('two replies', isReplied(2));
    socket.send({ type: 'message', content: 'and again', clientMessageId: 'm1' });
    await socket.until('three replies', isReplied(3));
    expect(await cluster.ownerOf('begun')).toBe(0);
    const head = await headOf(owner, 'begun');
    expect(durableTexts(socket)).toEqual(await replayed(owner.socketUrl('?session=begun&after=0'), head));
  });

  it('is begun once, whichever nodes are told of the message', async () => {
    await begun('once');
    const first = await TextSocket.open(second.socketUrl('?session=once&after=0'));
    first.send({ type: 'message', content: 'tell me', clientMessageId: 'm1' });
    await first.until('two replies', isReplied(2));
    first[Symbol.dispose]();
    using again = await TextSocket.open(third.socketUrl('?session=once&after=0'));
    again.send({ type: 'message', content: 'tell me', clientMessageId: 'm1' });
    await again.first('accepted');
    const key = { 'Idempotency-Key': 'k1' };
    const answers: string[] = [];
    for (const node of [third, owner, second]) {
      const response = await node.post(
        '/api/message-sync',
        { message: 'with a key', sessionId: 'once' },
        key,
      );
      answers.push(`${response.status} ${withoutTime(await response.text())}`);
    }
    expect(answers[0]).toContain('200 ');
    expectSame(answers);
    const reused = await second.post('/api/message-sync', { message: 'another', sessionId: 'once' }, key);
    expect(reused.status).toBe(422);
    const { body } = await answerOf(owner, '/api/sessions/once');
    expect(body).toContain('"turns":{"requested":3,"completed":3,');
  });

  it('is cancelled, refused as busy and reset from any node', async () => {
    await begun('control');
    using socket = await TextSocket.open(second.socketUrl('?session=control&after=0'));
    await owner.post('/api/message', { message: 'story', sessionId: 'control' });
    await socket.first('chunk');
    const busy = { message: 'now', sessionId: 'control', whenBusy: 'reject' };
    const refusals = await answersOf(cluster.nodes, '/api/message', sent('POST', busy));
    expect(refusals[0]).toMatchObject({ status: 409 });
    expectSame(refusals);
    const cancelled = await answerOf(second, '/api/sessions/control/cancel', sent('POST', {}));
    expect(cancelled).toMatchObject({ status: 200, body: expect.stringContaining('"cancelled"') });
    const { frame } = await socket.first('error');
    expect(frame).toMatchObject({ data: { code: 'TURN_CANCELLED' } });
    expectSame(await answersOf(cluster.nodes, '/api/sessions/control/cancel', sent('POST', {})));
    socket.send({ type: 'reset', commandId: 'c1' });
    await socket.until('the reset', (frames) =>
      ['reset', 'done'].every((name) => frames.some(({ event }) => event === name)),
    );
    expect((await third.post('/api/reset', { sessionId: 'control' })).status).toBe(200);
    const views = await answersOf(cluster.nodes, '/api/sessions/control');
    expect(views[0]?.body).toContain('"history":[]');
    expectSame(views);
  });

  it('waits for an approval that any node lists and any node takes', async () => {
    const callId = await waitingCall('approved');
    const inboxes = await answersOf(cluster.nodes, '/api/approvals');
    expect(inboxes[0]?.body).toContain(`"callId":"${callId}"`);
    expectSame(inboxes);
    const lists = await answersOf(cluster.nodes, '/api/sessions');
    expect(lists[0]?.body).toContain('"waitingApprovals"');
    expectSame(lists);
    using socket = await TextSocket.open(third.socketUrl('?session=approved&after=0'));
    await socket.first('toolApproval');
    const path = `/api/sessions/approved/approvals/${callId}`;
    const wrong = sent('POST', { decision: 'approve', argumentsHash: '0'.repeat(64) });
    expectSame(await answersOf(cluster.nodes, path, wrong));
    expect((await answerOf(second, path, sent('POST', { decision: 'approve' }))).status).toBe(200);
    await socket.first('response');
    // It was answered, so nobody can answer it again.
    const late = await answersOf(cluster.nodes, path, sent('POST', { decision: 'deny' }));
    expect(late[0]?.status).toBe(404);
    expectSame(late);
    const denied = await waitingCall('denied');
    using other = await TextSocket.open(second.socketUrl('?session=denied&after=0'));
    other.send({ type: 'deny', callId: denied, reason: 'too dear', commandId: 'c2' });
    await other.first('response');
    expect((await answerOf(third, '/api/sessions/denied/events')).body).toContain('too dear');
  });

  it('is shown as a statechart by every node', async () => {
    await begun('charted');
    const streams = await Promise.all(cluster.nodes.map((node) => openMachines(node, 'charted')));
    using socket = await TextSocket.open(third.socketUrl('?session=charted&after=0&statecharts=1'));
    await socket.first('machines');
    await owner.post('/api/message', { message: 'story', sessionId: 'charted' });
    const states = await Promise.all(streams.map((response) => turnStates(response)));
    expect(states[0]).toContain('"completed"');
    expectSame(states);
    await socket.until('the end of the turn', isReplied(2));
    expect(socket.texts.some((text) => text.includes('"machine":"turn"'))).toBe(true);
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

describe('a session', () => {
  it('is renamed, forked and deleted from any node', async () => {
    await begun('origin');
    const renamed = await answerOf(second, '/api/sessions/origin', sent('PATCH', { title: 'the first one' }));
    expect(renamed.status).toBe(200);
    for (const { body } of await answersOf(cluster.nodes, '/api/sessions?query=first'))
      expect(body).toContain('"origin"');
    const forked = await answerOf(
      second,
      '/api/sessions/origin/fork',
      sent('POST', { at: 3, sessionId: 'copy' }),
    );
    expect(forked).toMatchObject({ status: 200, body: expect.stringContaining('"from":"origin"') });
    expectSame(await answersOf(cluster.nodes, '/api/sessions/copy'));
    const more = await third.post('/api/message-sync', { message: 'hello', sessionId: 'copy' });
    expect(more.status).toBe(200);
    const head = await headOf(owner, 'copy');
    expectSame(
      await Promise.all(cluster.nodes.map((node) => replayed(node.socketUrl('?session=copy&after=0'), head))),
    );
    const again = await answersOf(
      cluster.nodes,
      '/api/sessions/origin/fork',
      sent('POST', { sessionId: 'copy' }),
    );
    expect(again[0]?.status).toBe(400);
    expectSame(again);
    const watchers = await Promise.all(
      cluster.nodes.map((node) => TextSocket.open(node.socketUrl('?session=origin&after=0'))),
    );
    await Promise.all(watchers.map((socket) => socket.first('renamed')));
    expect((await answerOf(third, '/api/sessions/origin', sent('DELETE'))).status).toBe(200);
    expect(await Promise.all(watchers.map(({ closed }) => closed))).toEqual([1000, 1000, 1000]);
    expectSame(watchers.map(({ texts }) => texts.at(-1)));
    const gone = await answersOf(cluster.nodes, '/api/sessions/origin');
    expect(gone[0]?.status).toBe(404);
    expectSame(gone);
    // Its name is free again, on another node.
    const anew = await second.post('/api/message-sync', { message: 'hello', sessionId: 'origin' });
    expect(anew.status).toBe(200);
    const views = await answersOf(cluster.nodes, '/api/sessions/origin');
    expect(views[0]?.body).toContain('"requested":1');
    expectSame(views);
  });

  it('is begun on two nodes at once, and has one log', async () => {
    const contents = Array.from({ length: 12 }, (_, index) => `hello ${index}`);
    const answers = await Promise.all(
      contents.map((message, index) =>
        cluster.node(index % 3).post('/api/message-sync', { message, sessionId: 'raced' }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(contents.map(() => 200));
    const views = await answersOf(cluster.nodes, '/api/sessions/raced');
    expect(views[0]?.body).toContain('"requested":12,"completed":12,');
    expectSame(views);
    expect(await cluster.ownership.faults()).toEqual([]);
  });
});

describe('MCP', () => {
  it('talks to any session on any node', async () => {
    await begun('mcp');
    await using client = await mcpClient(second);
    expect(await client.chat('hello', { sessionId: 'mcp' })).toContain('Hello');
    expect((await client.call('reset_conversation', { sessionId: 'mcp' })).isError).toBeFalsy();
    const views = await answersOf(cluster.nodes, '/api/sessions/mcp');
    expect(views[0]?.body).toContain('"history":[]');
    expectSame(views);
  });

  it('has sessions that any node knows', async () => {
    const session = await initializeMcp(owner.port);
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    const answers = await Promise.all(cluster.nodes.map(({ port }) => postMcp(port, list, session)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expectSame(answers.map(({ text }) => text));
    const params = { name: 'chat_with_agent', arguments: { message: 'hello' } };
    for (const [id, node] of [third, second].entries()) {
      const call = { jsonrpc: '2.0', id: 10 + id, method: 'tools/call', params };
      expect((await postMcp(node.port, call, session)).text).toContain('Hello');
    }
  });
});

describe('a tool server', () => {
  it('that is connected on one node is connected on all of them, and disconnected on all', async () => {
    const body = { name: 'late', config: scriptableServer() };
    expect((await second.post('/api/connect-server', body)).status).toBe(200);
    const recordOf = async (node: ClusterNode): Promise<string> => {
      const Servers = z.looseObject({
        servers: z.array(z.looseObject({ name: z.string(), status: z.string() })),
      });
      const { servers } = Servers.parse(await (await node.fetch('/api/mcp/servers')).json());
      return servers.find(({ name }) => name === 'late')?.status ?? 'none';
    };
    for (const node of cluster.nodes) {
      const what = `node ${node.number} has connected the server`;
      await awaited(
        SPREAD_MS,
        what,
        () => recordOf(node),
        (status) => status === 'connected',
      );
    }
    const executed = await third.post('/api/mcp/servers/late/tools/echo/execute', { message: 'here' });
    expect(await executed.text()).toContain('here');
    expect((await answerOf(owner, '/api/mcp/servers/late', sent('DELETE'))).status).toBe(200);
    for (const node of cluster.nodes) {
      const what = `node ${node.number} has disconnected the server`;
      await awaited(
        SPREAD_MS,
        what,
        () => recordOf(node),
        (status) => status === 'disconnected',
      );
    }
  });
});
