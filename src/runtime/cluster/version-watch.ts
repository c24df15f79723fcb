import type { AgentId, AgentVersion } from '../../core/agent-description.ts';
import type { Logger } from '../../ports/logger.ts';
import type { LivingNode } from '../../ports/membership.ts';

type Versions = Readonly<Record<AgentId, AgentVersion>>;

interface Difference {
  readonly agentId: AgentId;
  readonly own: AgentVersion;
  readonly node: string;
  readonly other: AgentVersion;
}

/**
 * Notes which nodes serve another version of an agent than this node. A reload reaches the nodes one after the other, and
 * each node reports its version with its next renewal. So a difference counts only when it is seen twice.
 */
export class VersionWatch {
  readonly #log: Logger;
  #seen: ReadonlySet<string> = new Set();
  #differences: readonly Difference[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  look(own: Versions, others: readonly LivingNode[]): void {
    const now = others.filter(({ isDraining }) => !isDraining).flatMap((node) => differencesFrom(own, node));
    const lasting = now.filter((one) => this.#seen.has(keyOf(one)));
    this.#seen = new Set(now.map(keyOf));
    const told = new Set(this.#differences.map(keyOf));
    for (const one of lasting)
      if (!told.has(keyOf(one)))
        this.#log.warn({ ...one }, 'another node serves another version of the agent');
    if (told.size > 0 && lasting.length === 0)
      this.#log.info({}, 'all nodes serve the same versions of the agents again');
    this.#differences = lasting;
  }

  /** For people. */
  get warnings(): readonly string[] {
    return this.#differences.map(
      ({ agentId, own, node, other }) =>
        `The node ${node} serves the version ${other} of the agent ${agentId}, and this node ${own}. POST /api/agents/${agentId}/reload lets all nodes read their files again.`,
    );
  }
}

function differencesFrom(own: Versions, { name, agents = {} }: LivingNode): Difference[] {
  return Object.entries(own).flatMap(([agentId, version]) => {
    const other = agents[agentId];
    return other === undefined || other === version ? [] : [{ agentId, own: version, node: name, other }];
  });
}

function keyOf({ agentId, own, node, other }: Difference): string {
  return JSON.stringify([agentId, own, node, other]);
}
