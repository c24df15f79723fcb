import type { AgentId } from '../../core/agent-description.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Logger } from '../../ports/logger.ts';
import type { NodeId } from '../../ports/membership.ts';
import type { AnswerOf } from '../../ports/service-requests.ts';
import type { Cluster } from './cluster.ts';
import type { QuestionFor } from './node-questions.ts';

export interface MissedReloadsDeps {
  readonly cluster: Cluster;
  readonly question: (agentId: AgentId, context: RequestContext) => QuestionFor<AnswerOf<'agent.reload'>>;
  readonly log: Logger;
}

/** The nodes that could not be asked to reload an agent. They are asked again until they answer, or are gone. */
export class MissedReloads {
  readonly #deps: MissedReloadsDeps;
  /** By agent. */
  readonly #missed = new Map<AgentId, { readonly nodes: Set<NodeId>; readonly context: RequestContext }>();
  #isAsking = false;

  constructor(deps: MissedReloadsDeps) {
    this.#deps = deps;
    deps.cluster.onChanged(async (stream) => {
      if (stream === null) await this.#askAgain();
    });
  }

  note(agentId: AgentId, nodes: readonly NodeId[], context: RequestContext): void {
    if (nodes.length === 0) this.#missed.delete(agentId);
    else this.#missed.set(agentId, { nodes: new Set(nodes), context });
  }

  async #askAgain(): Promise<void> {
    const { cluster } = this.#deps;
    if (this.#isAsking || cluster.isCutOff) return;
    this.#isAsking = true;
    try {
      await Promise.all([...this.#missed.keys()].map((agentId) => this.#ask(agentId)));
    } finally {
      this.#isAsking = false;
    }
  }

  async #ask(agentId: AgentId): Promise<void> {
    const missed = this.#missed.get(agentId);
    if (!missed) return;
    const { cluster, question, log } = this.#deps;
    const { nodes, context } = missed;
    const outcomes = await cluster.messenger.askEach(question(agentId, context), { nodes });
    const left = new Set<NodeId>();
    for (const outcome of outcomes) {
      const { nodeId } = outcome.node;
      if (outcome.status === 'unreached') left.add(nodeId);
      else if (outcome.status === 'refused')
        log.warn({ agentId, asked: nodeId, err: outcome.error }, 'a node did not reload the agent');
      else log.info({ agentId, asked: nodeId }, 'a node that had missed a reload has read its file again');
    }
    // A later reload may have replaced the entry meanwhile.
    if (this.#missed.get(agentId) !== missed) return;
    if (left.size === 0) this.#missed.delete(agentId);
    else this.#missed.set(agentId, { nodes: left, context });
  }
}
