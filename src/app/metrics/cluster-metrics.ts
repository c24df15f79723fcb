import type { Metrics } from '../../ports/metrics.ts';
import type { Cluster } from '../../runtime/cluster/cluster.ts';
import type { ClusterBus } from '../../runtime/cluster/cluster-bus.ts';

type Shown = Pick<Cluster, 'isCutOff' | 'droppedMessages'> & {
  readonly membership: { readonly living: { readonly size: number } };
};

/** Shows whether this node and the others hear each other, and what is lost between them. */
export function showCluster(metrics: Metrics, cluster: Shown): void {
  metrics.read('agent_cluster_nodes', () => [{ labels: {}, value: cluster.membership.living.size }]);
  metrics.read('agent_cluster_bus_up', () => [{ labels: {}, value: cluster.isCutOff ? 0 : 1 }]);
  metrics.read('agent_cluster_messages_dropped_total', () => [
    { labels: {}, value: cluster.droppedMessages },
  ]);
}

/** Shows what the clients of an agent wait for, while the lease of the node may have ended. */
export function showHeldSignals(metrics: Metrics, bus: Pick<ClusterBus, 'heldSignals'>): void {
  metrics.read('agent_cluster_signals_held', () => [{ labels: {}, value: bus.heldSignals }]);
}
