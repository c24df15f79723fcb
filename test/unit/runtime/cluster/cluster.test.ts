import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../../src/adapters/memory/memory-event-store.ts';
import { nodeTopic } from '../../../../src/ports/peers.ts';
import { Cluster } from '../../../../src/runtime/cluster/cluster.ts';
import { watchQuestion } from '../../../../src/runtime/cluster/node-questions.ts';
import { LOST, MemoryNetwork } from '../../../support/cluster/memory-link.ts';
import { MemoryClusterLog } from '../../../support/cluster/memory-membership.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

const TOPIC = nodeTopic<null, string>('topic');
const ANOTHER_TOPIC = nodeTopic<null, string>('another topic');
const ANYTHING = nodeTopic<null>('anything');

/** So many nodes, which know each other. */
async function nodes(count: number, clock?: SimulatedClock) {
  const shared = new MemoryClusterLog(memoryEventStore());
  const network = new MemoryNetwork();
  const memberships = Array.from({ length: count }, () => shared.join());
  for (const membership of memberships) await membership.refresh();
  const logs = memberships.map(() => recordingLog());
  const clusters = memberships.map((membership, index) => {
    const { store } = membership;
    const log = logs[index] ?? recordingLog();
    return new Cluster({ membership, link: network.connect(), store, log, ...(clock && { clock }) });
  });
  return { shared, network, memberships, clusters, logs };
}

it('has no answer of a node that does not know the question yet', async () => {
  const {
    clusters: [asking, starting, ready],
  } = await nodes(3);
  ready?.messenger.onAsked(TOPIC, async () => 'answer');
  starting?.messenger.onAsked(ANOTHER_TOPIC, async () => 'another answer');
  expect(await asking?.messenger.askAll(TOPIC, null)).toEqual(['answer']);
});

it('waits two seconds for the answers of all nodes, and does not ask on', async () => {
  const clock = new SimulatedClock();
  const { clusters, logs, network } = await nodes(3, clock);
  const [asking, slow, quick] = clusters;
  const asked = Promise.withResolvers<void>();
  slow?.messenger.onAsked(TOPIC, () => {
    asked.resolve();
    return new Promise(() => undefined);
  });
  quick?.messenger.onAsked(TOPIC, async () => 'answer');
  const answers = asking?.messenger.askAll(TOPIC, null);
  await asked.promise;
  // The other answer arrives.
  for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
  clock.increment(2_000);
  expect(await answers).toEqual(['answer']);
  expect(logs[0]?.lines).toMatchObject([{ level: 'warn', message: 'a node did not answer in time' }]);
  let sent = 0;
  network.way = () => {
    sent += 1;
    return [0];
  };
  clock.increment(10_000);
  await new Promise(setImmediate);
  expect(sent).toBe(0);
});

it('sends a node no signals whose wish for them it has refused', async () => {
  const { clusters, memberships, network } = await nodes(2);
  const [asking, owner] = clusters;
  const agent = {
    request: async () => undefined,
    load: { sessions: 0, turns: 0, waiting: 0 },
    position: () => Promise.reject(new Error('the log is away')),
    lost: () => undefined,
    tell: () => undefined,
    recover: () => undefined,
  };
  for (const cluster of clusters) cluster.agents.join('', agent);
  await memberships[1]?.claim('s');
  const node = memberships[1]?.self ?? 0;
  await expect(asking?.messenger.ask(node, watchQuestion('', 's'))).rejects.toThrow();
  const sent: string[] = [];
  network.way = (text) => {
    sent.push(text);
    return [0];
  };
  const event = { type: 'turn.started', turnId: 't' } as const;
  owner?.relay.relay('s', { sessionId: 's', seq: 1, time: 0, event, meta: null });
  await new Promise(setImmediate);
  expect(sent).toEqual([]);
});

it('hears a node again that one list of nodes has lacked', async () => {
  const { shared, memberships, clusters } = await nodes(2);
  const [one, other] = clusters;
  one?.messenger.onAsked(TOPIC, async () => 'answer');
  const [[, row] = []] = [...shared.rows].slice(-1);
  if (!row) throw new Error('there is no other node');
  shared.rows.delete(row.nodeId);
  await memberships[0]?.refresh();
  shared.rows.set(row.nodeId, row);
  await memberships[0]?.refresh();
  expect(await other?.messenger.askAll(TOPIC, null)).toEqual(['answer']);
});

it('tells a node that it has removed, which ends, unless it is stopping', async () => {
  const { shared, memberships, clusters } = await nodes(3);
  const [one, cutOff, stopping] = memberships;
  await clusters[2]?.leave();
  await one?.refresh();
  // The leases of the others end.
  shared.now += 2_000;
  await one?.refresh();
  expect(one?.living.size).toBe(1);
  await expect.poll(() => cutOff?.isLost).toBe(true);
  expect(stopping?.isLost).toBe(false);
});

it('tells a node again that it has removed, when it hears of it and the first text was lost', async () => {
  const { shared, network, memberships, clusters } = await nodes(2);
  const [one, cutOff] = memberships;
  await one?.refresh();
  shared.now += 2_000;
  network.way = (text) => (text.includes('node.removed') ? LOST : [0]);
  await one?.refresh();
  await new Promise(setImmediate);
  network.way = () => [0];
  // It goes on asking, and reminding those that watch its sessions.
  for (let times = 0; times < 3; times += 1) {
    clusters[1]?.messenger.tell(ANYTHING, null);
    await one?.refresh();
    await new Promise(setImmediate);
  }
  await expect.poll(() => cutOff?.isLost).toBe(true);
});

it('says of nodes that are not there any more whether they have stopped or were lost', async () => {
  const { shared, memberships, clusters, logs } = await nodes(3);
  const [one, lost, stopping] = memberships;
  await clusters[2]?.leave();
  await one?.refresh();
  if (!one || !lost || !stopping) return expect.unreachable('there are three nodes');
  shared.rows.delete(stopping.self);
  await one.refresh();
  shared.rows.delete(lost.self);
  await one.refresh();
  expect(logs[0]?.lines.map(({ level, fields, message }) => [level, fields.nodes, message])).toEqual([
    ['info', [stopping.self], 'nodes of the cluster have stopped'],
    ['warn', [lost.self], 'nodes of the cluster are gone'],
  ]);
});
