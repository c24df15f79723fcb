import type { NodeListItem } from '../../core/node-list-item.ts';
import type { Membership } from '../../ports/membership.ts';
import type { LocalBus } from '../bus/local-bus.ts';

/** Registers the handler of the request about the nodes. @param membership left out where the service is no node. */
export function answerForNodes(
  bus: LocalBus,
  membership: Pick<Membership, 'self' | 'living'> | undefined,
): void {
  bus.handle('node.list', async () => (membership ? nodesOf(membership) : []));
}

function nodesOf({ self, living }: Pick<Membership, 'self' | 'living'>): NodeListItem[] {
  return [...living.values()]
    .toSorted((one, other) => one.nodeId - other.nodeId)
    .map(({ nodeId, since, load, ...node }) => ({
      nodeId,
      isThis: nodeId === self,
      ...node,
      since: new Date(since).toISOString(),
      ...load,
    }));
}
