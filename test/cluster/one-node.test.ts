import { afterAll, beforeAll, describe, it } from 'vitest';
import { Cluster } from '../support/cluster/cluster.ts';
import { clusterAgent } from '../support/cluster/cluster-agent.ts';
import { checkCluster } from '../support/cluster/cluster-checks.ts';
import { ClusterEngines } from '../support/cluster/cluster-engines.ts';
import { ClusterWorkload } from '../support/cluster/cluster-workload.ts';
import { tempDirectory } from '../support/service/temp-directory.ts';

let engines: ClusterEngines;
beforeAll(async () => {
  engines = await ClusterEngines.start();
});
afterAll(() => engines[Symbol.asyncDispose]());

describe('one service on a database, without a bus', () => {
  // What the clients and the checks of the other tests must not find fault with.
  it('passes the checks of a cluster when it is killed and started again under load', async () => {
    await using ledger = await tempDirectory();
    await using cluster = await Cluster.start({
      engines,
      agent: clusterAgent(ledger.path),
      nodes: 1,
      hasBus: false,
    });
    using workload = new ClusterWorkload(cluster, 1);
    for (const frames of [300, 700]) {
      await workload.during(workload.traffic.frames(frames));
      await workload.during(cluster.kill(0, 'SIGKILL'));
      await workload.during(cluster.restart(0));
    }
    await workload.during(workload.traffic.frames(300));
    await workload.end();
    await checkCluster(cluster, workload, ledger.path);
  });
});
