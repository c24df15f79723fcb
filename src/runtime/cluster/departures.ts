import type { Logger } from '../../ports/logger.ts';
import type { LivingNode, NodeId } from '../../ports/membership.ts';

type LivingNodes = ReadonlyMap<NodeId, LivingNode>;

/** Notes which nodes have lost their leases. A paused node may wake up and repeat questions of long ago. */
export class Departures {
  readonly #log: Logger;
  #known: LivingNodes;
  readonly #gone = new Set<NodeId>();

  constructor(log: Logger, living: LivingNodes) {
    this.#log = log;
    this.#known = new Map(living);
  }

  has(node: NodeId): boolean {
    return this.#gone.has(node);
  }

  /** @returns the nodes that have left since the last look. */
  look(living: LivingNodes): NodeId[] {
    const left = [...this.#known.keys()].filter((node) => !living.has(node));
    const lost = left.filter((node) => this.#known.get(node)?.isDraining !== true);
    this.#known = new Map(living);
    // A late query may have missed a living node: forget that it left. A node that was removed never comes back.
    for (const node of living.keys()) this.#gone.delete(node);
    for (const node of left) this.#gone.add(node);
    if (lost.length > 0) this.#log.warn({ nodes: lost }, 'nodes of the cluster are gone');
    else if (left.length > 0) this.#log.info({ nodes: left }, 'nodes of the cluster have stopped');
    return left;
  }
}
