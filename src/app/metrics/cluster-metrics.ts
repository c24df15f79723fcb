import type { Metrics } from '../../ports/metrics.ts';
import type { Cluster } from '../../runtime/cluster/cluster.ts';
import type { ClusterBus } from '../../runtime/cluster/cluster-bus.ts';

/** Shows what is lost between this node and the others. */
export function showCluster(metrics: Metrics, cluster: Pick<Cluster, 'droppedMessages'>): void {
  metrics.read('agent_cluster_messages_dropped_total', () => [
    { labels: {}, value: cluster.droppedMessages },
  ]);
}

/** Shows what the clients of an agent wait for, while the lease of the node may have ended. */
export function showHeldSignals(metrics: Metrics, bus: Pick<ClusterBus, 'heldSignals'>): void {
  metrics.read('agent_cluster_signals_held', () => [{ labels: {}, value: bus.heldSignals }]);
}
