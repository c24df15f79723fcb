import type { SessionEventOf } from '../../core/log/events.ts';
import type { ApprovalConfig } from '../../core/tool-call/approval-policy.ts';
import { approvalPolicy } from '../../core/tool-call/approval-policy.ts';
import type { ToolOutcome } from '../../core/tool-call/tool.ts';
import { nameToolsForModel } from '../../core/tool-call/tool-names.ts';
import type { Log } from '../../ports/log.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';
import type { OfferedTool, ToolOffer, TurnTools } from '../turns/turn-tools.ts';
import type { McpSupervisor } from './mcp-supervisor.ts';
import { requestedCalls } from './requested-calls.ts';

export interface CatalogOptions {
  readonly approval: ApprovalConfig;
  /** Most tools that the model takes; as many as there are when left out. */
  readonly maxTools?: number | undefined;
  readonly log: Log;
}

/** All tools of all connected servers: what the model is offered, and the way to call one for it. */
export class ToolCatalog implements TurnTools {
  readonly #servers: McpSupervisor;
  readonly #schemas: SchemaCheck;
  readonly #options: CatalogOptions;
  #offer: { readonly revision: number; readonly offer: ToolOffer } | null = null;

  constructor(servers: McpSupervisor, schemas: SchemaCheck, options: CatalogOptions) {
    this.#servers = servers;
    this.#options = options;
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
        .map((tool) => ({ ...tool, policy: approvalPolicy(this.#options.approval, tool) }));
      this.#offer = { revision, offer: this.#offerOf(tools) };
    }
    return this.#offer.offer;
  }

  #offerOf(available: readonly OfferedTool[]): ToolOffer {
    const { maxTools = Number.POSITIVE_INFINITY, log } = this.#options;
    // Denied tools included: the model may know them from before.
    const names = nameToolsForModel(available);
    const allowed = [...names].filter(([, { policy }]) => policy !== 'deny');
    const leftOut = allowed.slice(maxTools).map(([name]) => name);
    if (leftOut.length > 0) {
      const problem = `the model takes ${maxTools} tools at most, and ${leftOut.length} are not offered to it`;
      log.warn({ tools: leftOut }, `${problem}; deny tools under approval to choose which`);
    }
    const tools = allowed.slice(0, maxTools).map(([name, { tool }]) => ({
      name,
      description: tool.description,
      inputSchema: tool.inputSchema,
    }));
    return { tools, resolve: (raw, messages) => requestedCalls(raw, names, messages, this.#schemas) };
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
