import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SessionResponse } from '../../src/wire/responses.ts';
import { Cluster } from '../support/cluster/cluster.ts';
import { clusterAgent, prescribed, STORY_PACE_MS } from '../support/cluster/cluster-agent.ts';
import { checkCluster } from '../support/cluster/cluster-checks.ts';
import { ClusterEngines } from '../support/cluster/cluster-engines.ts';
import type { ClusterNode } from '../support/cluster/cluster-node.ts';
import { type ClusterWatcher, followWithWebSocket } from '../support/cluster/cluster-watchers.ts';
import { ClusterWorkload } from '../support/cluster/cluster-workload.ts';
import { awaited, withinMs } from '../support/cluster/deadline.ts';
import { TextSocket } from '../support/cluster/text-socket.ts';
import { Traffic } from '../support/cluster/traffic.ts';
import { MachinePauses } from '../support/project/machine-pauses.ts';
import { tempDirectory } from '../support/service/temp-directory.ts';

/** What the service promises for the next frame, beyond the pace of the model. */
const PROMISED_MS = 500;
/** All processes of this test share two processors with the nodes that start. */
const ALLOWANCE_MS = 750;
const STORIES = ['t0', 't1', 't2', 't3', 't4', 't5'];
const TURN_MS = 90_000;
const FRAMES = 200;

let engines: ClusterEngines;
beforeAll(async () => {
  engines = await ClusterEngines.start();
});
afterAll(() => engines[Symbol.asyncDispose]());

describe('nodes that are stopped and started again, one after the other', () => {
  it('lose nothing and double nothing under load', async () => {
    await using ledger = await tempDirectory();
    await using cluster = await Cluster.start({ engines, agent: clusterAgent(ledger.path) });
    using workload = new ClusterWorkload(cluster, 7);
    for (const { number } of cluster.nodes) {
      await workload.during(workload.traffic.frames(FRAMES));
      const { code } = await workload.during(cluster.kill(number, 'SIGTERM'));
      expect(code).toBe(0);
      await workload.during(cluster.restart(number));
      await workload.during(cluster.settled());
    }
    await workload.during(workload.traffic.frames(FRAMES));
    await workload.end();
    await checkCluster(cluster, workload, ledger.path);
    // No turn was interrupted: each session was handed over between two steps.
    expect(await cluster.ownership.moves()).toBeGreaterThan(0);
  });

  // What else runs on the machine only makes a wait longer, so one of three runs within the promise shows it.
  it('keep no client waiting for the next frame', { retry: 2 }, async () => {
    await using ledger = await tempDirectory();
    await using cluster = await Cluster.start({ engines, agent: clusterAgent(ledger.path) });
    using pauses = new MachinePauses();
    const traffic = new Traffic();
    const gaps: number[] = [];
    for (const { number } of cluster.nodes) {
      const ids = STORIES.map((name) => `${name}-${number}`);
      const watchers = ids.map((id) => followWithWebSocket({ url: cluster.url, traffic }, id));
      using socket = await TextSocket.open(
        cluster.node((number + 1) % 3).socketUrl(`?session=${ids[0]}&after=0`),
      );
      for (const id of ids) {
        const posted = await cluster.node(number).post('/api/message', { message: 'story', sessionId: id });
        expect(posted.status).toBe(200);
      }
      await socket.first('chunk');
      expect((await cluster.kill(number, 'SIGTERM')).code).toBe(0);
      for (const watcher of watchers) {
        await ended(watcher);
        gaps.push(Math.max(...gapsOf(watcher)));
        expect(watcher.record.textOf(turnOf(watcher))).toBe(prescribed('story').reply);
      }
      await cluster.restart(number);
      await cluster.settled();
    }
    const longest = gaps.map(Math.round).toSorted((one, other) => one - other);
    process.stdout.write(`longest waits for a frame while a node stops: ${longest.join(', ')} ms\n`);
    const most = STORY_PACE_MS + PROMISED_MS + ALLOWANCE_MS + pauses.allowanceMs;
    expect(Math.max(...gaps)).toBeLessThan(most);
  });

  it('answer those who wait at them for a turn of another node', async () => {
    await using ledger = await tempDirectory();
    await using cluster = await Cluster.start({ engines, agent: clusterAgent(ledger.path) });
    const [stopping, owner] = [cluster.node(0), cluster.node(1)];
    using socket = await TextSocket.open(owner.socketUrl('?session=shared'));
    const begun = await owner.post('/api/message', { message: 'story', sessionId: 'shared' });
    expect(begun.status).toBe(200);
    await socket.first('chunk');
    // It waits behind the turn that runs.
    const waiting = stopping.post('/api/message-sync', { message: 'story', sessionId: 'shared' });
    await expect.poll(() => requestedIn(owner, 'shared')).toBe(2);
    const killed = cluster.kill(stopping.number, 'SIGTERM');
    const answer = await waiting;
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ response: prescribed('story').reply });
    expect((await killed).code).toBe(0);
  });
});

/** How many turns the session has, as this node says. */
async function requestedIn({ url }: ClusterNode, sessionId: string): Promise<number> {
  const response = await fetch(`${url}/api/sessions/${sessionId}`);
  return SessionResponse.parse(await response.json()).session.turns.requested;
}

const turnOf = ({ record }: ClusterWatcher): string | undefined => record.events[0]?.turnId;

/** Resolves when the watcher has seen the end of its turn. */
async function ended(watcher: ClusterWatcher): Promise<void> {
  const { record, watching, sessionId } = watcher;
  const seen = awaited(
    TURN_MS,
    `the reply in ${sessionId}`,
    async () => record.events.at(-1)?.event,
    (event) => event === 'response',
  );
  await Promise.race([seen, watching]);
  watcher.stop();
  await withinMs(TURN_MS, 'the watcher stops', watching);
}

/** Between one frame and the next. */
function gapsOf({ times }: ClusterWatcher): number[] {
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}
