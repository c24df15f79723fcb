import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from '../support/cluster/cluster.ts';
import { askingAgent } from '../support/cluster/cluster-agent.ts';
import { checkSameEverywhere } from '../support/cluster/cluster-checks.ts';
import { ClusterEngines } from '../support/cluster/cluster-engines.ts';
import { awaited, withinMs } from '../support/cluster/deadline.ts';
import { paidIn } from '../support/cluster/ledger.ts';
import { TextSocket } from '../support/cluster/text-socket.ts';
import { OpenAiUpstream, type UpstreamReply } from '../support/models/openai-upstream.ts';
import { tempDirectory } from '../support/service/temp-directory.ts';
import { payingServer } from '../support/tools/mcp/tool-servers.ts';

const TURN_MS = 60_000;
const END_MS = 60_000;

let engines: ClusterEngines;
beforeAll(async () => {
  engines = await ClusterEngines.start();
});
afterAll(() => engines[Symbol.asyncDispose]());

function gated() {
  const gate = Promise.withResolvers<void>();
  const reply: UpstreamReply = {
    stream: [{ text: 'Too ' }, { gate: gate.promise }, { text: 'late.' }, { finish: 'stop' }, { done: true }],
  };
  return { reply, open: () => gate.resolve() };
}

const saying = (text: string): UpstreamReply => ({
  stream: [{ text }, { finish: 'stop' }, { done: true }],
});

describe('a node that is paused for longer than its lease', () => {
  it('records nothing, tells nothing and ends when it wakes up; another one has taken over', async () => {
    await using upstream = await OpenAiUpstream.listen();
    await using cluster = await Cluster.start({ engines, agent: askingAgent(upstream.baseURL) });
    const [sleeper, second] = [cluster.node(0), cluster.node(1)];
    const { reply, open } = gated();
    upstream.replyWith(reply, saying('From another node.'));
    using own = await TextSocket.open(sleeper.socketUrl('?session=s&after=0'));
    using plain = await TextSocket.open(sleeper.socketUrl('?session=s'));
    using other = await TextSocket.open(second.socketUrl('?session=s&after=0'));
    await sleeper.post('/api/message', { message: 'hello', sessionId: 's' });
    for (const socket of [own, plain, other]) await socket.first('chunk');
    cluster.pause(0);
    await other.first('turnResumed');
    await other.first('response', TURN_MS);
    const [told, plainlyTold] = [own.texts.length, plain.texts.length];
    const before = await cluster.ownership.seqs();
    // What the model has said meanwhile is waiting for the sleeper.
    open();
    cluster.resume(0);
    const { code, stderr } = await withinMs(END_MS, 'the woken node ends', sleeper.ended);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('this one was paused'),
    });
    expect(own.texts.slice(told)).toEqual([]);
    expect(plain.texts.slice(plainlyTold)).toEqual([]);
    expect(await cluster.ownership.seqs()).toEqual(before);
    expect(other.frames.at(-1)).toMatchObject({ data: { content: 'From another node.' } });
    expect(await cluster.ownership.faults()).toEqual([]);
    await cluster.recovered();
    await checkSameEverywhere(cluster, 's', before.get('s')?.length ?? 0);
  });

  it('begins no tool call when it wakes up', async () => {
    await using ledger = await tempDirectory();
    await using upstream = await OpenAiUpstream.listen();
    const mcpServers = { tools: payingServer(ledger.path) };
    const agent = askingAgent(upstream.baseURL, { mcpServers });
    await using cluster = await Cluster.start({ engines, agent });
    const gate = Promise.withResolvers<void>();
    const call = { index: 0, id: 'c1', name: 'pay', arguments: '{"id": "late", "ms": 0}' };
    upstream.replyWith(
      {
        stream: [
          { text: 'I pay.' },
          { gate: gate.promise },
          { toolCall: call },
          { finish: 'tool_calls' },
          { done: true },
        ],
      },
      saying('I do not pay.'),
    );
    using other = await TextSocket.open(cluster.node(1).socketUrl('?session=s&after=0'));
    await cluster.node(0).post('/api/message', { message: 'pay', sessionId: 's' });
    await other.first('chunk');
    cluster.pause(0);
    await other.first('response', TURN_MS);
    gate.resolve();
    cluster.resume(0);
    await withinMs(END_MS, 'the woken node ends', cluster.node(0).ended);
    expect(await paidIn(ledger.path)).toEqual([]);
  });

  it('goes on as before when the pause was shorter than its lease', async () => {
    await using upstream = await OpenAiUpstream.listen();
    await using cluster = await Cluster.start({ engines, agent: askingAgent(upstream.baseURL) });
    const sleeper = cluster.node(0);
    const { reply, open } = gated();
    upstream.replyWith(reply);
    using other = await TextSocket.open(cluster.node(1).socketUrl('?session=s&after=0'));
    await sleeper.post('/api/message', { message: 'hello', sessionId: 's' });
    await other.first('chunk');
    const before = (await sleeper.nodes()).find(({ isThis }) => isThis)?.nodeId;
    cluster.pause(0);
    // The others renew their leases twice meanwhile.
    const [since] = await cluster.node(1).nodes();
    await awaited(
      TURN_MS,
      'the lease of the sleeper is seen to run down',
      async () => (await cluster.node(1).nodes()).find(({ nodeId }) => nodeId === before)?.leaseMs ?? 0,
      (leaseMs) => leaseMs < (since?.leaseMs ?? 0) - 400,
    );
    cluster.resume(0);
    open();
    const { frame } = await other.first('response');
    expect(frame).toMatchObject({ data: { content: 'Too late.' } });
    expect(other.events).not.toContain('turnResumed');
    expect(await cluster.ownerOf('s')).toBe(0);
  });
});
