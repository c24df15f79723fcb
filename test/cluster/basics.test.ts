import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServersResponse } from '../../src/wire/responses.ts';
import type { ClusterNode } from '../support/cluster/cluster-node.ts';
import { awaited } from '../support/cluster/deadline.ts';
import { answerOf, answersOf, streamedTo } from '../support/cluster/node-answer.ts';
import { replayed, TextSocket } from '../support/cluster/text-socket.ts';
import { expectSame, sent, ThreeNodes } from '../support/cluster/three-nodes.ts';
import { scriptableServer } from '../support/tools/mcp/tool-servers.ts';
import { mcpClient } from '../support/tools/mcp-client.ts';
import { initializeMcp, postMcp } from '../support/tools/mcp-http.ts';

/** Within which what one node was told is known to all. */
const SPREAD_MS = 2_000;
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let three: ThreeNodes;
beforeAll(async () => {
  three = await ThreeNodes.start();
});
afterAll(() => three[Symbol.asyncDispose]());

describe('what is read', () => {
  it('is the same bytes from every node', async () => {
    const imageData = { base64: PNG, mimeType: 'image/png' };
    await three.begin('read', { imageData });
    await three.owner.fetch('/api/sessions/read', sent('PATCH', { title: 'what is read' }));
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
      const answers = await answersOf(three.nodes, path);
      for (const answer of answers) expect({ path, ...answer }).toEqual({ path, ...answers[0] });
    }
    expect((await answerOf(three.third, '/api/sessions/read')).body).toContain('"title":"what is read"');
  });

  it('is the same stream from every node, over WebSocket and server-sent events', async () => {
    await three.begin('stream');
    const head = await three.headOf('stream');
    const replays = await Promise.all(
      three.nodes.map((node) => replayed(node.socketUrl('?session=stream&after=0'), head)),
    );
    expect(replays[0]).toHaveLength(head);
    expectSame(replays);
    expectSame(
      await Promise.all(
        three.nodes.map((node) => streamedTo(node, '/api/sessions/stream/events?after=0', String(head))),
      ),
    );
  });

  it('lists all nodes on each, and each names itself', async () => {
    // A node tells the others where it listens when it renews its lease.
    const lists = await awaited(
      SPREAD_MS,
      'all nodes know where all listen',
      () => Promise.all(three.nodes.map((node) => node.nodes())),
      (all) => all.flat().every(({ address }) => address !== undefined),
    );
    for (const [number, list] of lists.entries()) {
      expect(list).toHaveLength(3);
      expect(list.map(({ nodeId }) => nodeId)).toEqual(lists[0]?.map(({ nodeId }) => nodeId));
      const address = `127.0.0.1:${three.cluster.node(number).port}`;
      expect(list.filter(({ isThis }) => isThis)).toMatchObject([{ address }]);
    }
  });
});

describe('a session', () => {
  it('is renamed, forked and deleted from any node', async () => {
    await three.begin('origin');
    const renamed = await answerOf(
      three.second,
      '/api/sessions/origin',
      sent('PATCH', { title: 'the first one' }),
    );
    expect(renamed.status).toBe(200);
    for (const { body } of await answersOf(three.nodes, '/api/sessions?query=first'))
      expect(body).toContain('"origin"');
    const forked = await answerOf(
      three.second,
      '/api/sessions/origin/fork',
      sent('POST', { at: 3, sessionId: 'copy' }),
    );
    expect(forked).toMatchObject({ status: 200, body: expect.stringContaining('"from":"origin"') });
    expectSame(await answersOf(three.nodes, '/api/sessions/copy'));
    const more = await three.third.post('/api/message-sync', { message: 'hello', sessionId: 'copy' });
    expect(more.status).toBe(200);
    const head = await three.headOf('copy');
    expectSame(
      await Promise.all(three.nodes.map((node) => replayed(node.socketUrl('?session=copy&after=0'), head))),
    );
    const again = await answersOf(
      three.nodes,
      '/api/sessions/origin/fork',
      sent('POST', { sessionId: 'copy' }),
    );
    expect(again[0]?.status).toBe(400);
    expectSame(again);
    const watchers = await Promise.all(
      three.nodes.map((node) => TextSocket.open(node.socketUrl('?session=origin&after=0'))),
    );
    await Promise.all(watchers.map((socket) => socket.first('renamed')));
    expect((await answerOf(three.third, '/api/sessions/origin', sent('DELETE'))).status).toBe(200);
    expect(await Promise.all(watchers.map(({ closed }) => closed))).toEqual([1000, 1000, 1000]);
    // A client that is still catching up is only disconnected: what it lacks is being erased.
    const ends = watchers.flatMap(({ received }) =>
      received.filter(({ frame }) => frame.event === 'deleted'),
    );
    expect(ends.length).toBeGreaterThan(0);
    expectSame(ends.map(({ text }) => text));
    const gone = await answersOf(three.nodes, '/api/sessions/origin');
    expect(gone[0]?.status).toBe(404);
    expectSame(gone);
    // Its name is free again, on another node.
    const anew = await three.second.post('/api/message-sync', { message: 'hello', sessionId: 'origin' });
    expect(anew.status).toBe(200);
    const views = await answersOf(three.nodes, '/api/sessions/origin');
    expect(views[0]?.body).toContain('"requested":1');
    expectSame(views);
  });

  it('is begun on two nodes at once, and has one log', async () => {
    const contents = Array.from({ length: 12 }, (_, index) => `hello ${index}`);
    const answers = await Promise.all(
      contents.map((message, index) =>
        three.cluster.node(index % 3).post('/api/message-sync', { message, sessionId: 'raced' }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(contents.map(() => 200));
    const views = await answersOf(three.nodes, '/api/sessions/raced');
    expect(views[0]?.body).toContain('"requested":12,"completed":12,');
    expectSame(views);
    expect(await three.cluster.ownership.faults()).toEqual([]);
  });
});

describe('MCP', () => {
  it('talks to any session on any node', async () => {
    await three.begin('mcp');
    await using client = await mcpClient(three.second);
    expect(await client.chat('hello', { sessionId: 'mcp' })).toContain('Hello');
    expect((await client.call('reset_conversation', { sessionId: 'mcp' })).isError).toBeFalsy();
    const views = await answersOf(three.nodes, '/api/sessions/mcp');
    expect(views[0]?.body).toContain('"history":[]');
    expectSame(views);
  });

  it('has sessions that any node knows', async () => {
    const session = await initializeMcp(three.owner.port);
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    const answers = await Promise.all(three.nodes.map(({ port }) => postMcp(port, list, session)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    // Each stream has ids of its own, by which it is resumed.
    expectSame(answers.map(({ text }) => text.replaceAll(/^id: .*$/gm, 'id: …')));
    const params = { name: 'chat_with_agent', arguments: { message: 'hello' } };
    for (const [id, node] of [three.third, three.second].entries()) {
      const call = { jsonrpc: '2.0', id: 10 + id, method: 'tools/call', params };
      expect((await postMcp(node.port, call, session)).text).toContain('Hello');
    }
  });
});

describe('a tool server', () => {
  it('that is connected on one node is connected on all of them, and disconnected on all', async () => {
    const body = { name: 'late', config: scriptableServer() };
    await everywhere('late', 'connected', () => three.second.post('/api/connect-server', body));
    const executed = await three.third.post('/api/mcp/servers/late/tools/echo/execute', { message: 'here' });
    expect(await executed.text()).toContain('here');
    await everywhere('late', 'disconnected', () => disconnect(three.owner, 'late'));
    await everywhere('late', 'connected', () => three.second.post('/api/mcp/servers/late/reconnect'));
    await everywhere('late', 'disconnected', () => disconnect(three.third, 'late'));
    // What is disconnected already leaves the list.
    await everywhere('late', 'none', () => disconnect(three.second, 'late'));
  });

  it('of the agent file is disconnected and connected again on all of them', async () => {
    await everywhere('tools', 'disconnected', () => disconnect(three.third, 'tools'));
    await everywhere('tools', 'connected', () => three.owner.post('/api/mcp/servers/tools/reconnect'));
  });
});

/** Asks for something, and resolves when all nodes list the server with this status. */
async function everywhere(name: string, status: string, ask: () => Promise<Response>): Promise<void> {
  expect((await ask()).status).toBe(200);
  for (const node of three.nodes) {
    const what = `${name} is ${status} on node ${node.number}`;
    await awaited(
      SPREAD_MS,
      what,
      () => statusOn(node, name),
      (found) => found === status,
    );
  }
}

async function statusOn(node: ClusterNode, name: string): Promise<string> {
  const { servers } = ServersResponse.parse(await (await node.fetch('/api/mcp/servers')).json());
  return servers.find((server) => server.name === name)?.status ?? 'none';
}

function disconnect(node: ClusterNode, name: string): Promise<Response> {
  return node.fetch(`/api/mcp/servers/${name}`, sent('DELETE'));
}
