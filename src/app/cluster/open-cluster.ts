import { connectNats } from '../../adapters/nats/nats-link.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Membership } from '../../ports/membership.ts';
import { Cluster } from '../../runtime/cluster/cluster.ts';
import { announcedStore } from './announced-store.ts';

export interface ClusterOptions {
  /** `nats://…`: what the nodes hear each other over. */
  readonly busUrl: string;
  readonly membership: Membership;
  readonly store: EventStore;
  readonly log: Logger;
}

/** Joins the other nodes. Load this file only where several services share a log. */
export async function openCluster({
  busUrl,
  membership,
  store,
  log,
}: ClusterOptions): Promise<{ cluster: Cluster; store: EventStore }> {
  const name = `agent-service node ${membership.self}`;
  const link = await connectNats(busUrl, { log, name, cluster: membership.cluster });
  const cluster = new Cluster({ membership, link, store, log });
  return { cluster, store: announcedStore(store, cluster) };
}
