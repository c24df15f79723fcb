import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from '../support/cluster/cluster.ts';
import { clusterAgent, prescribed } from '../support/cluster/cluster-agent.ts';
import { checkSameEverywhere, readLogs } from '../support/cluster/cluster-checks.ts';
import { ClusterEngines } from '../support/cluster/cluster-engines.ts';
import type { ClusterNode } from '../support/cluster/cluster-node.ts';
import {
  type ClusterWatcher,
  followWithEventSource,
  followWithWebSocket,
} from '../support/cluster/cluster-watchers.ts';
import { awaited, withinMs } from '../support/cluster/deadline.ts';
import { paidIn } from '../support/cluster/ledger.ts';
import { answersOf } from '../support/cluster/node-answer.ts';
import { replayed, TextSocket } from '../support/cluster/text-socket.ts';
import { Traffic } from '../support/cluster/traffic.ts';
import { MachinePauses } from '../support/project/machine-pauses.ts';
import { errorOf } from '../support/service/error-envelope.ts';
import { tempDirectory } from '../support/service/temp-directory.ts';
import { pieceFaults } from '../support/sockets/prescribed-stream.ts';

/** What the service promises for a node that dies: its lease, and a second. */
const PROMISED_MS = 3_000;
/** All processes of this test share two processors with what is started meanwhile. */
const ALLOWANCE_MS = 1_000;
const TURN_MS = 75_000;
const ROUNDS = 3;
const KEY = { 'Idempotency-Key': 'k1' };
const SESSIONS = ['s1', 's2', 's3', 's4', 's5', 's6'];

let engines: ClusterEngines;
beforeAll(async () => {
  engines = await ClusterEngines.start();
});
afterAll(() => engines[Symbol.asyncDispose]());

/** To the person who runs the tests. */
function report(what: string, times: readonly number[]): void {
  const sorted = times.map(Math.round).toSorted((one, other) => one - other);
  process.stdout.write(`${what}: ${sorted.join(', ')} ms\n`);
}

describe('a node that is killed in the middle of turns', () => {
  it('is replaced within its lease and a second, and clients of any node get exactly the rest', async () => {
    await using ledger = await tempDirectory();
    await using cluster = await Cluster.start({ engines, agent: clusterAgent(ledger.path) });
    using pauses = new MachinePauses();
    const times: number[] = [];
    const traffic = new Traffic();
    const watchers: ClusterWatcher[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const victim = cluster.node(round % 3);
      const [other] = cluster.nodes.filter((node) => node !== victim);
      if (!other) throw new Error('there is no other node');
      const ids = SESSIONS.map((name) => `${name}-${round}`);
      // A client of the node that dies, two that are anywhere, and one that stays where it is.
      const doors = [
        { url: victim.url, traffic },
        { url: cluster.url, traffic },
      ];
      const sockets = await Promise.all(
        ids.map((id) => TextSocket.open(other.socketUrl(`?session=${id}&after=0`))),
      );
      for (const id of ids) {
        watchers.push(...doors.map((door) => followWithWebSocket(movingDoor(door, cluster), id)));
        watchers.push(followWithEventSource({ url: cluster.url, traffic }, id));
        expect((await victim.post('/api/message', { message: 'story', sessionId: id })).status).toBe(200);
      }
      await Promise.all(sockets.map((socket) => socket.first('chunk')));
      const killedAt = performance.now();
      await cluster.kill(victim.number, 'SIGKILL');
      const resumed = await Promise.all(sockets.map((socket) => socket.first('turnResumed')));
      times.push(...resumed.map(({ atMs }) => atMs - killedAt));
      await Promise.all(sockets.map((socket) => socket.first('response', TURN_MS)));
      await cluster.restart(victim.number);
      await cluster.settled();
      for (const socket of sockets) socket[Symbol.dispose]();
    }
    report('from the kill of a node to turnResumed', times);
    expect(Math.max(...times)).toBeLessThan(PROMISED_MS + ALLOWANCE_MS + pauses.allowanceMs);
    const logs = await readLogs(cluster);
    for (const watcher of watchers) {
      const log = logs.get(watcher.sessionId) ?? [];
      const caughtUp = awaited(
        TURN_MS,
        `${watcher.name} has all`,
        async () => watcher.record.seq,
        (seq) => seq === log.length,
      );
      await Promise.race([caughtUp, watcher.watching]);
      watcher.stop();
      await withinMs(TURN_MS, 'the watcher stops', watcher.watching);
      const url = cluster.node(0).socketUrl(`?session=${watcher.sessionId}&after=0`);
      expect(watcher.texts).toEqual(await replayed(url, log.length));
      expect(pieceFaults(watcher.record.pieces, log, prescribed)).toEqual([]);
    }
    for (const [sessionId, log] of logs) await checkSameEverywhere(cluster, sessionId, log.length);
    expect(await cluster.ownership.faults()).toEqual([]);
  });

  it('has its settled calls kept, its repeatable ones repeated and its others told as interrupted', async () => {
    await using ledger = await tempDirectory();
    await using cluster = await Cluster.start({ engines, agent: clusterAgent(ledger.path) });
    const victim = cluster.node(0);
    using settled = await TextSocket.open(cluster.node(1).socketUrl('?session=settled&after=0'));
    using cut = await TextSocket.open(cluster.node(2).socketUrl('?session=cut&after=0'));
    await victim.post('/api/message', { message: 'slow work x', sessionId: 'settled' });
    await victim.post('/api/message', { message: 'work y 3000', sessionId: 'cut' });
    await settled.first('toolResult');
    await cut.first('toolCall');
    await cluster.kill(0, 'SIGKILL');
    for (const socket of [settled, cut]) await socket.first('response', TURN_MS);
    const ofSettled = settled.frames.flatMap((frame) => (frame.event === 'toolResult' ? [frame.data] : []));
    expect(ofSettled).toMatchObject([
      { toolName: 'pay', result: {} },
      { toolName: 'look', result: {} },
    ]);
    const ofCut = cut.frames.filter(({ event }) => event === 'toolResult');
    expect(ofCut).toMatchObject([
      { data: { toolName: 'pay' }, cause: { kind: 'service-stopped' } },
      { data: { toolName: 'look', result: {} } },
    ]);
    // That of `y` was under way: it may have taken effect, but not twice.
    const paid = await paidIn(ledger.path);
    expect(paid.filter((id) => id === 'x')).toHaveLength(1);
    expect(paid.filter((id) => id === 'y').length).toBeLessThanOrEqual(1);
    expect(await cluster.ownership.faults()).toEqual([]);
  });

  it('leaves nobody waiting who repeats, with its key, a request that it was doing', async () => {
    await using ledger = await tempDirectory();
    await using cluster = await Cluster.start({ engines, agent: clusterAgent(ledger.path) });
    const pay = (node: ClusterNode, tool: string) =>
      node.post(`/api/mcp/servers/tools/tools/${tool}/execute`, { id: 'k', ms: 2_000 }, KEY);
    using pauses = new MachinePauses();
    const [victim, other] = [cluster.node(0), cluster.node(1)];
    const cutOff = [pay(victim, 'pay'), pay(victim, 'look')].map((asked) => asked.catch(() => undefined));
    await awaited(
      TURN_MS,
      'the payment is made, and not yet answered',
      () => paidIn(ledger.path),
      (paid) => paid.includes('k'),
    );
    await cluster.kill(0, 'SIGKILL');
    await Promise.all(cutOff);
    const killedAt = performance.now();
    const unknown = await pay(other, 'pay');
    report('from the kill of a node to OUTCOME_UNKNOWN', [performance.now() - killedAt]);
    expect(performance.now() - killedAt).toBeLessThan(PROMISED_MS + ALLOWANCE_MS + pauses.allowanceMs);
    expect(await errorOf(unknown, 409)).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect((await pay(other, 'look')).status).toBe(200);
    expect(await paidIn(ledger.path)).toEqual(['k']);
  });

  it('has its waiting approvals and messages kept', async () => {
    await using ledger = await tempDirectory();
    const approval = { rules: [{ server: 'tools', tool: 'pay', policy: 'ask' }] };
    await using cluster = await Cluster.start({ engines, agent: clusterAgent(ledger.path, { approval }) });
    const [victim, second, third] = [cluster.node(0), cluster.node(1), cluster.node(2)];
    using socket = await TextSocket.open(third.socketUrl('?session=s&after=0'));
    await victim.post('/api/message', { message: 'work z 1', sessionId: 's' });
    const { frame } = await socket.first('toolApproval');
    if (frame.event !== 'toolApproval') throw new Error('that is no approval');
    await second.post('/api/message', { message: 'hello', sessionId: 's' });
    await cluster.kill(0, 'SIGKILL');
    await socket.first('turnResumed');
    const living = [second, third];
    const [inbox, same] = await answersOf(living, '/api/approvals');
    expect(inbox?.body).toContain(frame.data.callId);
    expect(same).toEqual(inbox);
    const path = `/api/sessions/s/approvals/${frame.data.callId}`;
    expect((await second.post(path, { decision: 'approve' })).status).toBe(200);
    await socket.until(
      'both replies',
      (frames) => frames.filter(({ event }) => event === 'response').length === 2,
      TURN_MS,
    );
  });
});

/** First the given node, then any. */
function movingDoor(
  first: { url: string; traffic: Traffic },
  { url }: Cluster,
): { url: string; traffic: Traffic } {
  let isFirst = true;
  return {
    traffic: first.traffic,
    get url() {
      const chosen = isFirst ? first.url : url;
      isFirst = false;
      return chosen;
    },
  };
}
