import type { ApprovalConfig } from '../contract/agent-config.ts';
import type { SessionEventOf } from '../contract/events.ts';
import type { ToolOutcome } from '../contract/tool.ts';
import { approvalPolicy } from '../domain/approval-policy.ts';
import { nameToolsForModel } from '../domain/tool-names.ts';
import type { SchemaCheck } from '../ports/schema-check.ts';
import type { McpSupervisor } from './mcp-supervisor.ts';
import { requestedCalls } from './requested-calls.ts';
import type { OfferedTool, ToolOffer, TurnTools } from './turn-tools.ts';

/** All tools of all connected servers: what the model is offered, and the way to call one for it. */
export class ToolCatalog implements TurnTools {
  readonly #servers: McpSupervisor;
  readonly #schemas: SchemaCheck;
  readonly #approval: ApprovalConfig;
  #offer: { readonly revision: number; readonly offer: ToolOffer } | null = null;

  constructor(servers: McpSupervisor, schemas: SchemaCheck, approval: ApprovalConfig) {
    this.#servers = servers;
    this.#approval = approval;
    this.#schemas = schemas;
  }

  /** Null when the configured servers have had their first attempt; else resolves when they have. */
  ready(): Promise<void> | null {
    return this.#servers.firstAttempts();
  }

  /** The tools under the names the model knows; made anew only when they have changed. */
  forModel(): ToolOffer {
    const { revision } = this.#servers;
    if (this.#offer?.revision !== revision) {
      const tools = this.#servers
        .connectedTools()
        .map((tool) => ({ ...tool, policy: approvalPolicy(this.#approval, tool) }));
      this.#offer = { revision, offer: toolOffer(tools, this.#schemas) };
    }
    return this.#offer.offer;
  }

  /** Runs a call the model has asked for. Never rejects: the model is told how it ended. */
  async call(call: SessionEventOf<'tool-call.requested'>, signal: AbortSignal): Promise<ToolOutcome> {
    const { serverId, toolName } = call;
    const connection = serverId === null ? undefined : this.#servers.connectionOf(serverId);
    if (!connection) return { status: 'failed', reason: `the server ${serverId ?? ''} is not connected` };
    const { turnId, callId } = call;
    return connection.callTool(toolName, call.arguments, { signal, origin: { turnId, callId } });
  }
}

function toolOffer(available: readonly OfferedTool[], schemas: SchemaCheck): ToolOffer {
  // Denied tools included: the model may know them from before.
  const names = nameToolsForModel(available);
  const allowed = [...names].filter(([, { policy }]) => policy !== 'deny');
  const tools = allowed.map(([name, { tool }]) => ({
    name,
    description: tool.description,
    inputSchema: tool.inputSchema,
  }));
  return { tools, resolve: (raw, messages) => requestedCalls(raw, names, messages, schemas) };
}
