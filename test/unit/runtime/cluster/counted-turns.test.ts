import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../../src/adapters/memory/memory-event-store.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { LimitedRequests } from '../../../../src/runtime/access/limited-requests.ts';
import { OpenTurns } from '../../../../src/runtime/access/open-turns.ts';
import { SessionQuota } from '../../../../src/runtime/access/session-quota.ts';
import { DIRECT, LOST, MemoryNetwork } from '../../../support/cluster/memory-link.ts';
import { MemoryClusterLog } from '../../../support/cluster/memory-membership.ts';
import { isEvent, type MemoryNode, memoryNode, nextSignal } from '../../../support/cluster/memory-node.ts';
import { WatchedStore } from '../../../support/log/watched-store.ts';
import { DirectedModel } from '../../../support/models/directed-model.ts';

const REFUSAL = { code: 'RATE_LIMIT_EXCEEDED' };

/** Three nodes of one cluster. The first one owns the session `s`, and has answered its first message. */
async function start() {
  const store = new WatchedStore(memoryEventStore());
  const shared = new MemoryClusterLog(store);
  const network = new MemoryNetwork();
  const model = new DirectedModel();
  const memberships = [shared.join(), shared.join(), shared.join()] as const;
  for (const membership of memberships) await membership.refresh();
  // All at once: each asks the others at its start, and would wait in vain for one that does not listen yet.
  const [owner, asking, third] = await Promise.all([
    memoryNode(memberships[0], network, model),
    memoryNode(memberships[1], network, model),
    memoryNode(memberships[2], network, model),
  ]);
  const completed = nextSignal(owner.bus, 's', isEvent('turn.completed'));
  await owner.bus.send('turn.start', message('s'), ANYONE);
  (await model.call(0)).answer('Hi!');
  await completed;
  const close = async (): Promise<void> => {
    for (const { agent } of [owner, asking, third]) await agent.close();
  };
  return { store, shared, network, model, owner, asking, third, [Symbol.asyncDispose]: close };
}

const message = (sessionId: string) => ({ sessionId, turnId: crypto.randomUUID(), text: 'hello' });

/** The requests of clients of the node, each of which may have one running turn. */
function limited({ agent }: MemoryNode): LimitedRequests {
  const quotas = {
    sessions: new SessionQuota({ principal: false, tenant: false }),
    turns: new OpenTurns({ principal: 1, tenant: false }),
    countMessage: () => undefined,
  };
  return new LimitedRequests(agent.bus, quotas, []);
}

/** A running turn counts until it is heard to be over, and no longer. */
async function expectNoCount(requests: LimitedRequests, { cluster }: MemoryNode): Promise<void> {
  await expect.poll(() => cluster.feeds.size).toBe(0);
  await requests.send('turn.start', message('another'), ANYONE);
}

describe('a turn of a session of another node', () => {
  it('counts until its end when that node could not record it at first', async () => {
    await using nodes = await start();
    const { store, model, owner, asking } = nodes;
    const requests = limited(asking);
    await requests.send('turn.start', message('s'), ANYONE);
    store.refuseNext('step.completed', new Error('the database is away'));
    (await model.call(1)).answer('Lost.');
    const again = await model.call(2);
    await expect(requests.send('turn.start', message('another'), ANYONE)).rejects.toMatchObject(REFUSAL);
    const completed = nextSignal(owner.bus, 's', isEvent('turn.completed'));
    again.answer('Done.');
    await completed;
    await expectNoCount(requests, asking);
  });

  it('counts until its end when that node is lost before it answers', async () => {
    await using nodes = await start();
    const { shared, network, model, owner, asking, third } = nodes;
    const requests = limited(asking);
    const lost = Promise.withResolvers<void>();
    network.way = (text) => {
      if (!text.startsWith(`{"type":"answer","from":${owner.membership.self},`)) return DIRECT;
      lost.resolve();
      return LOST;
    };
    // The third node goes on with the turn.
    asking.membership.claimOrphans = async () => [];
    const sent = message('s');
    const answer = requests.send('turn.start', sent, ANYONE);
    await Promise.all([model.call(1), lost.promise]);
    shared.rows.delete(owner.membership.self);
    await asking.membership.refresh();
    expect(await answer).toEqual({ turnId: sent.turnId });
    await third.membership.refresh();
    const again = await model.call(2);
    await expect(requests.send('turn.start', message('another'), ANYONE)).rejects.toMatchObject(REFUSAL);
    again.answer('Done.');
    await expectNoCount(requests, asking);
  });
});
