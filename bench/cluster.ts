import { elsewhere, elsewhereTargets } from './cluster/elsewhere.ts';
import { Engines } from './cluster/nodes.ts';
import { takeOver, takeOverTargets } from './cluster/take-over.ts';
import { threeNodes, threeNodesTargets } from './cluster/three-nodes.ts';
import type { Report } from './support/report.ts';
import type { Scope } from './support/scope.ts';

export const question =
  'What do several nodes cost: a client at another node than its session, and the death of a node?';

/** The nodes, PostgreSQL, NATS, the model service and the load share this machine: CPU times count, rates do not. */
export async function run(scope: Scope): Promise<Report> {
  const engines = await Engines.start(scope);
  const away = await elsewhere(scope, engines);
  const three = await threeNodes(scope, engines);
  const killed = await takeOver(scope, engines);
  return {
    series: [...away, ...three, ...killed],
    targets: () => [...elsewhereTargets(away), ...threeNodesTargets(three), ...takeOverTargets(killed)],
  };
}
