import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasEnded, SendMessageResponse, Task } from '../../src/gateway/a2a/a2a-objects.ts';
import { PushReceiver, saidIn } from '../support/a2a/push-receiver.ts';
import { Cluster } from '../support/cluster/cluster.ts';
import { clusterAgent } from '../support/cluster/cluster-agent.ts';
import { ClusterEngines } from '../support/cluster/cluster-engines.ts';
import type { ClusterNode } from '../support/cluster/cluster-node.ts';
import { withinMs } from '../support/cluster/deadline.ts';
import { eventually } from '../support/project/eventually.ts';
import { tempDirectory } from '../support/service/temp-directory.ts';

const A2A = { 'A2A-Version': '1.0' };
const SESSIONS = ['s1', 's2', 's3'];
const ALL_MS = 120_000;
/** A silent receiver is asked again after ten seconds. */
const MAX_SILENT = 2;

let engines: ClusterEngines;
beforeAll(async () => {
  engines = await ClusterEngines.start();
});
afterAll(() => engines[Symbol.asyncDispose]());

/** Begins a task whose notifications go to the path with the name of its session. @returns its id. */
async function beginTask(node: ClusterNode, contextId: string, receiver: PushReceiver): Promise<string> {
  const taskPushNotificationConfig = { url: new URL(contextId, receiver.url).href };
  const sent = {
    message: { messageId: 'm', contextId, role: 'ROLE_USER', parts: [{ text: 'story' }] },
    configuration: { returnImmediately: true, taskPushNotificationConfig },
  };
  const answer = await node.post('/a2a/message:send', sent, A2A);
  return SendMessageResponse.parse(await answer.json()).task.id;
}

describe('push notifications of a node that is killed', () => {
  it('go on at one other node, also those of a task that has ended', async () => {
    await using ledger = await tempDirectory();
    const agent = clusterAgent(ledger.path, { a2a: { push: { allowPrivateAddresses: true } } });
    await using cluster = await Cluster.start({ engines, agent });
    await using receiver = await PushReceiver.start();
    await using late = await PushReceiver.start();
    const [victim, other] = [cluster.node(0), cluster.node(1)];
    late.isSilent = true;
    const ended = await beginTask(victim, 'ended', late);
    await eventually(
      async () => Task.parse(await (await other.fetch(`/a2a/tasks/${ended}`, { headers: A2A })).json()),
      hasEnded,
    );
    for (const session of SESSIONS) await beginTask(victim, session, receiver);
    const has = (session: string, state?: string) =>
      receiver.until(({ path, told }) => path === `/${session}` && (!state || saidIn(told) === state));
    await Promise.all(SESSIONS.map((session) => has(session)));
    await cluster.kill(0, 'SIGKILL');
    late.isSilent = false;
    const ends = SESSIONS.map((session) => has(session, 'TASK_STATE_COMPLETED'));
    await withinMs(ALL_MS, 'the ends of the tasks', Promise.all([...ends, late.end()]));
    for (const session of [...SESSIONS, 'ended']) {
      const all = [...receiver.received, ...late.received].filter(({ path }) => path === `/${session}`);
      const byId = new Map(all.map(({ headers, body }) => [headers['webhook-id'], body]));
      // What was on its way when the node died comes twice at most, and is the same.
      expect(all.length - byId.size).toBeLessThanOrEqual(session === 'ended' ? MAX_SILENT : 1);
      for (const { headers, body } of all) expect(byId.get(headers['webhook-id'])).toBe(body);
      const said = all.map(({ told }) => saidIn(told));
      expect(said.filter((one) => one === 'TASK_STATE_COMPLETED')).toHaveLength(1);
    }
  });
});
