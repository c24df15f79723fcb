import type { MachineState } from '../../core/machine-state.ts';
import type { NodeId } from '../../ports/membership.ts';

/** What a node tells of its machines. */
export interface MachineNews {
  readonly node: NodeId;
  /** 1, 2, 3 … for each node that is watched. */
  readonly n: number;
  readonly states: readonly MachineState[];
  /** Whether the node runs no others. */
  readonly isAll: boolean;
}

interface NodeMachines {
  readonly running: Map<string, MachineState>;
  /** Number of the last news. */
  n: number;
  /** Whether news is missing, and the node was asked for all. */
  isBehind: boolean;
}

/** What one watcher was shown of the machines of all nodes. A machine may move from one node to another. */
export class ShownMachines {
  readonly #nodes = new Map<NodeId, NodeMachines>();
  readonly #show: (state: MachineState) => void;
  readonly #onBehind: () => void;

  /** @param onBehind is called when news of a node was lost. */
  constructor(show: (state: MachineState) => void, onBehind: () => void) {
    this.#show = show;
    this.#onBehind = onBehind;
  }

  /** The number of the last news of each node. */
  get heard(): Record<NodeId, number> {
    return Object.fromEntries([...this.#nodes].map(([node, { n }]) => [node, n]));
  }

  /** News may be lost, doubled, or overtaken by later news. */
  hear({ node, n, states, isAll }: MachineNews): void {
    const known = this.#of(node);
    if (n <= known.n) return;
    if (!isAll && n > known.n + 1) {
      if (!known.isBehind) this.#onBehind();
      known.isBehind = true;
      return;
    }
    known.n = n;
    known.isBehind = false;
    if (!isAll) {
      for (const state of states) this.take(node, state);
      return;
    }
    this.#keepOnly(node, new Set(states.map(({ id }) => id)));
    const { running } = this.#of(node);
    for (const state of states) if (!isSame(running.get(state.id), state)) this.take(node, state);
  }

  take(node: NodeId, state: MachineState): void {
    const { running } = this.#of(node);
    if (state.status !== 'active') {
      running.delete(state.id);
      // Another node goes on with the turn, and was first to say so.
      this.#show(this.#elsewhere(state.id) ?? state);
      return;
    }
    running.set(state.id, state);
    this.#show(state);
  }

  /** Nodes that are gone run nothing. */
  keepNodes(isThere: (node: NodeId) => boolean): void {
    for (const node of [...this.#nodes.keys()]) {
      if (isThere(node)) continue;
      this.#keepOnly(node, new Set());
      this.#nodes.delete(node);
    }
  }

  #keepOnly(node: NodeId, ids: ReadonlySet<string>): void {
    for (const [id, state] of this.#of(node).running)
      if (!ids.has(id))
        this.take(node, { ...state, event: null, status: 'stopped', time: new Date().toISOString() });
  }

  #of(node: NodeId): NodeMachines {
    const known = this.#nodes.get(node) ?? { running: new Map(), n: 0, isBehind: false };
    this.#nodes.set(node, known);
    return known;
  }

  #elsewhere(id: string): MachineState | undefined {
    for (const { running } of this.#nodes.values()) {
      const state = running.get(id);
      if (state) return state;
    }
    return undefined;
  }
}

/** Whether nothing has happened in between, as far as it can be seen. */
function isSame(before: MachineState | undefined, { value, context }: MachineState): boolean {
  return (
    before !== undefined &&
    JSON.stringify([before.value, before.context]) === JSON.stringify([value, context])
  );
}
