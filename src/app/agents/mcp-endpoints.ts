import type { AgentId } from '../../core/agent-description.ts';
import type { ServedRequest } from '../../gateway/http/http-message.ts';
import type { McpEndpoint } from '../../gateway/mcp/mcp-endpoint.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import type { Agent } from '../agent.ts';
import type { AgentHost } from './hosted-agents.ts';

/** The MCP endpoint of each agent. */
export class McpEndpoints implements Disposable {
  readonly #endpoints: ReadonlyMap<AgentId, McpEndpoint>;
  readonly #first: McpEndpoint;

  constructor(
    { agents, first }: Pick<AgentHost, 'agents' | 'first'>,
    endpoint: (agent: Agent) => McpEndpoint,
  ) {
    this.#first = endpoint(first);
    this.#endpoints = new Map(
      [...agents].map(([agentId, agent]) => [agentId, agent === first ? this.#first : endpoint(agent)]),
    );
  }

  handle(request: ServedRequest): Promise<HttpResponse> {
    return (this.#endpoints.get(request.context.agent) ?? this.#first).handle(request);
  }

  /** Number of MCP sessions of all agents. */
  get sessions(): number {
    return [...this.#endpoints.values()].reduce((sum, { sessions }) => sum + sessions, 0);
  }

  [Symbol.dispose](): void {
    for (const endpoint of this.#endpoints.values()) endpoint[Symbol.dispose]();
  }
}
