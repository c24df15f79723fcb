import { expect, it } from 'vitest';
import { memoryEventStore } from '../../../../src/adapters/memory/memory-event-store.ts';
import type { SessionEvent } from '../../../../src/core/log/events.ts';
import { StorageAwayError } from '../../../../src/core/log/storage-away.ts';
import { serviceOrigin } from '../../../../src/core/request/request-origin.ts';
import { MemoryNetwork } from '../../../support/cluster/memory-link.ts';
import { MemoryClusterLog } from '../../../support/cluster/memory-membership.ts';
import { isEvent, memoryNode, nextSignal } from '../../../support/cluster/memory-node.ts';

/** After so many renewals a node looks for what nobody goes on with. */
const RENEWALS = 4;
const LEASE_ENDED_MS = 2_001;
const BEGUN: readonly SessionEvent[] = [
  { type: 'turn.requested', turnId: 't1', text: 'hello' },
  { type: 'turn.started', turnId: 't1' },
];

/** Two nodes; the second one has begun a turn, and is not there any more. */
async function start() {
  const shared = new MemoryClusterLog(memoryEventStore());
  // It starts before the other one joins: at its start it would ask that one, and wait in vain.
  const node = await memoryNode(shared.join(), new MemoryNetwork());
  const gone = shared.join();
  gone.presumeNew('s');
  await gone.store.append('s', 0, BEGUN, { open: true, origin: serviceOrigin() });
  // It hears of the other one.
  await node.membership.refresh();
  const renew = async (): Promise<void> => {
    for (let renewal = 0; renewal < RENEWALS; renewal += 1) await node.membership.refresh();
  };
  return { shared, node, renew };
}

it('goes on with a turn that it has taken over without learning of that', async () => {
  const { shared, node, renew } = await start();
  const { membership } = node;
  const claim = membership.claimOrphans.bind(membership);
  const lost = Promise.withResolvers<void>();
  membership.claimOrphans = async (...wanted) => {
    membership.claimOrphans = claim;
    for (const stream of await claim(...wanted)) membership.forget(stream);
    lost.resolve();
    throw new StorageAwayError('the answer was lost');
  };
  shared.now += LEASE_ENDED_MS;
  await membership.refresh();
  await lost.promise;
  expect(shared.ownerOf('s')).toBe(membership.self);
  expect(membership.owns('s')).toBe(false);

  const completed = nextSignal(node.bus, 's', isEvent('turn.completed'));
  await renew();
  await completed;
  await node.agent.close();
});

it('leaves a turn of its own alone that it has in memory', async () => {
  const { shared, node, renew } = await start();
  shared.now += LEASE_ENDED_MS;
  const completed = nextSignal(node.bus, 's', isEvent('turn.completed'));
  await renew();
  await renew();
  await completed;
  await renew();
  const types = (await shared.log.read('s', 0)).map(({ event }) => event.type);
  expect(types).toEqual([
    'turn.requested',
    'turn.started',
    'turn.resumed',
    'step.completed',
    'turn.completed',
  ]);
  expect(node.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  await node.agent.close();
});
