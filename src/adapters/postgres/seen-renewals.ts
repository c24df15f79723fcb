import type { NodeId } from '../../ports/membership.ts';

interface Lease {
  readonly node: NodeId;
  /** By the clock of the database, in any unit. */
  readonly lease_end: number;
}

/** When each node was last seen to renew its lease, by the steady clock of this machine, which nobody sets. */
export class SeenRenewals {
  #seen: ReadonlyMap<NodeId, { readonly end: number; readonly at: number }> = new Map();

  /** @param leases all that there are. One that was not there before counts as renewed now. */
  note(leases: readonly Lease[]): void {
    const at = performance.now();
    this.#seen = new Map(
      leases.map(({ node, lease_end: end }) => {
        const before = this.#seen.get(node);
        return [node, before?.end === end ? before : { end, at }];
      }),
    );
  }

  /** For how many milliseconds the node has not been seen to renew its lease. */
  sinceMs(node: NodeId): number {
    return performance.now() - (this.#seen.get(node)?.at ?? -Infinity);
  }
}
