import { expect, it } from 'vitest';
import { memoryEventStore } from '../../../../src/adapters/memory/memory-event-store.ts';
import { Cluster } from '../../../../src/runtime/cluster/cluster.ts';
import { MemoryNetwork } from '../../../support/cluster/memory-link.ts';
import { MemoryClusterLog } from '../../../support/cluster/memory-membership.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

/** So many nodes, which know each other. */
async function nodes(count: number) {
  const shared = new MemoryClusterLog(memoryEventStore());
  const network = new MemoryNetwork();
  const memberships = Array.from({ length: count }, () => shared.join());
  for (const membership of memberships) await membership.refresh();
  return memberships.map((membership) => {
    const { store } = membership;
    return new Cluster({ membership, link: network.connect(), store, log: recordingLog() });
  });
}

it('has no answer of a node that does not know the question yet', async () => {
  const [asking, starting, ready] = await nodes(3);
  ready?.onAsked('topic', async () => 'answer');
  starting?.onAsked('another topic', async () => 'another answer');
  expect(await asking?.askAll('topic', null)).toEqual(['answer']);
});
