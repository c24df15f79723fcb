import { describe, expect, it } from 'vitest';
import { HealthResponse } from '../../src/wire/responses.ts';
import { Cluster } from '../support/cluster/cluster.ts';
import { clusterAgent } from '../support/cluster/cluster-agent.ts';
import { checkCluster, checkSameEverywhere } from '../support/cluster/cluster-checks.ts';
import { ClusterEngines } from '../support/cluster/cluster-engines.ts';
import type { ClusterNode } from '../support/cluster/cluster-node.ts';
import { ClusterWorkload } from '../support/cluster/cluster-workload.ts';
import { awaited, withinMs } from '../support/cluster/deadline.ts';
import { TextSocket } from '../support/cluster/text-socket.ts';
import { errorOf } from '../support/service/error-envelope.ts';
import { type TempDirectory, tempDirectory } from '../support/service/temp-directory.ts';

const TURN_MS = 90_000;
/** Far more than a node needs to notice that an engine is away or back. */
const NOTICE_MS = 45_000;
const FRAMES = 200;

const start = (engines: ClusterEngines, ledger: TempDirectory) =>
  Cluster.start({ engines, agent: clusterAgent(ledger.path) });
const hello = (sessionId: string) => ({ message: 'hello', sessionId });

async function begin(node: ClusterNode, sessionId: string): Promise<void> {
  expect((await node.post('/api/message-sync', hello(sessionId))).status).toBe(200);
}

/** Resolves when the node answers a message in the session with this status. */
async function answersWith(node: ClusterNode, sessionId: string, status: number): Promise<Response> {
  return awaited(
    NOTICE_MS,
    `node ${node.number} answers ${status} in ${sessionId}`,
    () => node.post('/api/message-sync', hello(sessionId)),
    (response) => response.status === status,
  );
}

async function pidsOf(cluster: Cluster): Promise<(string | undefined)[]> {
  return Promise.all(
    cluster.nodes.map(async (node) => (await node.nodes()).find(({ isThis }) => isThis)?.name),
  );
}

async function warningsOf(node: ClusterNode): Promise<readonly string[]> {
  return HealthResponse.parse(await (await node.fetch('/api/health')).json()).warnings ?? [];
}

describe('a database that is away', () => {
  it('is told to clients; turns go on by themselves when it is back, and no node ends', async () => {
    // Each test has its own, because one that fails may leave them broken.
    await using engines = await ClusterEngines.start();
    await using ledger = await tempDirectory();
    await using cluster = await start(engines, ledger);
    const [first, second] = [cluster.node(0), cluster.node(1)];
    const before = await pidsOf(cluster);
    await begin(first, 'known');
    using socket = await TextSocket.open(second.socketUrl('?session=open&after=0'));
    await first.post('/api/message', { message: 'story', sessionId: 'open' });
    await socket.first('chunk');
    await engines.postgres.end('SIGQUIT');
    for (const node of [first, second]) {
      const refused = await node.post('/api/message-sync', hello('known'));
      expect(refused.headers.get('Retry-After')).not.toBeNull();
      expect(await errorOf(refused, 503)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    }
    for (const node of cluster.nodes) {
      await awaited(
        NOTICE_MS,
        `node ${node.number} is not ready`,
        () => node.isReady(),
        (isReady) => !isReady,
      );
      const health = await node.fetch('/healthz');
      expect(`${health.status} ${await health.text()}`).toContain('200 ');
    }
    await engines.postgres.run();
    await socket.first('response', TURN_MS);
    await cluster.settled();
    expect(await pidsOf(cluster)).toEqual(before);
    for (const node of cluster.nodes) await answersWith(node, 'known', 200);
    for (const id of ['known', 'open']) {
      const seqs = (await cluster.ownership.seqs()).get(id) ?? [];
      await checkSameEverywhere(cluster, id, seqs.length);
    }
  });

  it('is hardly noticed when it only starts again', async () => {
    await using engines = await ClusterEngines.start();
    await using ledger = await tempDirectory();
    await using cluster = await start(engines, ledger);
    using workload = new ClusterWorkload(cluster, 3);
    for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
      await workload.during(workload.traffic.frames(FRAMES));
      await workload.during(engines.postgres.end(signal));
      await workload.during(engines.postgres.run());
      await workload.during(cluster.recovered());
    }
    await workload.during(workload.traffic.frames(FRAMES));
    await workload.end();
    await checkCluster(cluster, workload, ledger.path);
  });

  it('takes a session from a node that alone cannot reach it', async () => {
    await using engines = await ClusterEngines.start();
    await using ledger = await tempDirectory();
    await using cluster = await start(engines, ledger);
    const [lonely, second] = [cluster.node(0), cluster.node(1)];
    using near = await TextSocket.open(lonely.socketUrl('?session=s&after=0'));
    using socket = await TextSocket.open(second.socketUrl('?session=s&after=0'));
    await lonely.post('/api/message', { message: 'story', sessionId: 's' });
    await Promise.all([near, socket].map((both) => both.first('chunk')));
    await lonely.database.cut();
    // The others tell it, so that its clients need not wait until it reaches the database again.
    const { code } = await withinMs(NOTICE_MS, 'the lonely node ends', lonely.ended);
    expect(code).toBe(1);
    expect(await near.closed).toBe(1006);
    await socket.first('turnResumed');
    await socket.first('response', TURN_MS);
    await lonely.database.heal();
    await cluster.recovered();
    await checkSameEverywhere(cluster, 's', socket.frames.filter(({ seq }) => seq !== undefined).length);
    expect(await cluster.ownership.faults()).toEqual([]);
  });
});

describe('a bus that is away', () => {
  it('leaves sessions to their owners, and others to the database until it is back', async () => {
    await using engines = await ClusterEngines.start();
    await using ledger = await tempDirectory();
    await using cluster = await start(engines, ledger);
    const [owner, second] = [cluster.node(0), cluster.node(1)];
    await begin(owner, 's');
    using own = await TextSocket.open(owner.socketUrl('?session=s&after=0'));
    using far = await TextSocket.open(second.socketUrl('?session=s&after=0'));
    await Promise.all([own, far].map((socket) => socket.first('response')));
    await engines.nats.end();
    // Clients of the owner notice nothing. What the other node is told of it is dropped, and counted.
    await awaited(
      NOTICE_MS,
      'messages to the other node are dropped',
      async () => {
        await answersWith(owner, 's', 200);
        return (await owner.fetch('/metrics')).text();
      },
      (metrics) => /^agent_cluster_messages_dropped_total\{.*\} [1-9]/m.test(metrics),
    );
    expect(await (await owner.fetch('/metrics')).text()).toMatch(/^agent_cluster_bus_up\{.*\} 0$/m);
    expect(await warningsOf(owner)).toEqual([expect.stringContaining('cannot reach NATS')]);
    // The others are told to come again, and hear by the database what is recorded.
    const refused = await answersWith(second, 's', 503);
    expect(refused.headers.get('Retry-After')).not.toBeNull();
    using late = await TextSocket.open(second.socketUrl('?session=s&after=0'));
    await late.first('response', NOTICE_MS);
    const isTwo = (frames: readonly { event: string }[]): boolean =>
      frames.filter(({ event }) => event === 'response').length >= 2;
    await far.until('the second reply, by the database', isTwo, NOTICE_MS);
    await engines.nats.run();
    await answersWith(second, 's', 200);
    for (const node of [owner, second])
      await awaited(
        NOTICE_MS,
        'the node reaches NATS',
        () => warningsOf(node),
        (warnings) => warnings.length === 0,
      );
    expect(await (await owner.fetch('/metrics')).text()).toMatch(/^agent_cluster_bus_up\{.*\} 1$/m);
    await far.until(
      'the third reply',
      (frames) => frames.filter(({ event }) => event === 'response').length >= 3,
    );
    expect(late.frames.filter(({ event }) => event === 'error')).toEqual([]);
    const seqs = (await cluster.ownership.seqs()).get('s') ?? [];
    await checkSameEverywhere(cluster, 's', seqs.length);
    expect(await cluster.ownership.faults()).toEqual([]);
  });

  it('loses nothing when it starts again under load', async () => {
    await using engines = await ClusterEngines.start();
    await using ledger = await tempDirectory();
    await using cluster = await start(engines, ledger);
    using workload = new ClusterWorkload(cluster, 5);
    for (let restart = 0; restart < 2; restart += 1) {
      await workload.during(workload.traffic.frames(FRAMES));
      await workload.during(engines.nats.end());
      await workload.during(workload.traffic.frames(FRAMES / 4));
      await workload.during(engines.nats.run());
      await workload.during(cluster.recovered());
    }
    await workload.during(workload.traffic.frames(FRAMES));
    await workload.end();
    await checkCluster(cluster, workload, ledger.path);
  });

  it('loses nothing when one node cannot reach it, or hears nothing, or is not heard', async () => {
    await using engines = await ClusterEngines.start();
    await using ledger = await tempDirectory();
    await using cluster = await start(engines, ledger);
    using workload = new ClusterWorkload(cluster, 11);
    const { bus } = cluster.node(1);
    const faults = [
      () => bus.cut(),
      async () => bus.stall('inwards'),
      async () => bus.stall('outwards'),
      async () => bus.stall('inwards', 'outwards'),
    ];
    for (const happen of faults) {
      await workload.during(workload.traffic.frames(FRAMES));
      await workload.during(happen());
      await workload.during(workload.traffic.frames(FRAMES));
      await workload.during(bus.heal());
      await workload.during(cluster.recovered());
    }
    await workload.end();
    await checkCluster(cluster, workload, ledger.path);
  });
});
