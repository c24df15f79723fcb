import { expect, it } from 'vitest';
import { memoryEventStore } from '../../../../src/adapters/memory/memory-event-store.ts';
import { forwardingStore } from '../../../../src/app/forwarding-store.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { MemoryNetwork } from '../../../support/cluster/memory-link.ts';
import { MemoryClusterLog } from '../../../support/cluster/memory-membership.ts';
import { isEvent, memoryNode, nextSignal } from '../../../support/cluster/memory-node.ts';

it('who comes to a node while that writes the first event of a session learns of all that follows', async () => {
  const log = memoryEventStore();
  const isWriting = Promise.withResolvers<void>();
  const mayWrite = Promise.withResolvers<void>();
  const shared = new MemoryClusterLog({
    ...forwardingStore(log),
    append: async (streamId, ...appended) => {
      if (streamId === 's') {
        isWriting.resolve();
        await mayWrite.promise;
      }
      return log.append(streamId, ...appended);
    },
  });
  const membership = shared.join();
  await membership.refresh();
  const { agent, bus, cluster } = await memoryNode(membership, new MemoryNetwork());
  const begun = bus.send('turn.start', { sessionId: 's', turnId: 't1', text: 'hello' }, ANYONE);
  await isWriting.promise;
  bus.onSession('s', { hear: () => undefined });
  await cluster.feeds.ready('s');
  const completed = nextSignal(bus, 's', isEvent('turn.completed'));
  mayWrite.resolve();
  await begun;
  await completed;
  const [page] = await Array.fromAsync(log.pages('s', 0, 100));
  const { head } = await bus.send('session.position', { sessionId: 's' }, ANYONE);
  expect(head).toBe(page?.length);
  await agent.close();
});
