import type { ApprovalConfig } from '../contract/agent-config.ts';
import { ServiceError } from '../contract/errors.ts';
import type { SessionEventOf } from '../contract/events.ts';
import type { ToolExecution } from '../contract/service-requests.ts';
import type { Tool, ToolOutcome } from '../contract/tool.ts';
import type { TraceContext } from '../contract/trace.ts';
import { approvalPolicy } from '../domain/approval-policy.ts';
import { nameToolsForModel } from '../domain/tool-names.ts';
import type { SchemaCheck } from '../ports/schema-check.ts';
import type { Work } from './keyed-requests.ts';
import type { McpSupervisor } from './mcp-supervisor.ts';
import { requestedCalls } from './requested-calls.ts';
import type { OfferedTool, SchemaIssue, ToolOffer, TurnTools } from './turn-tools.ts';

/** All tools of all connected servers: what the model is offered, and the way to call one. */
export class ToolCatalog implements TurnTools {
  readonly #servers: McpSupervisor;
  readonly #schemas: SchemaCheck;
  readonly #approval: ApprovalConfig;
  #view: { readonly revision: number; readonly view: ToolOffer } | null = null;

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
    if (this.#view?.revision !== revision) {
      const tools = this.#servers
        .connectedTools()
        .map((tool) => ({ ...tool, policy: approvalPolicy(this.#approval, tool) }));
      this.#view = { revision, view: toolOffer(tools, (tool, args) => this.issueWith(tool, args)) };
    }
    return this.#view.view;
  }

  issueWith(tool: Tool, args: Record<string, unknown>): Promise<string | undefined> {
    return this.#schemas.issueWith(tool.inputSchema, args);
  }

  /** Runs a call the model has asked for. Never rejects: the model is told how it ended. */
  async call(call: SessionEventOf<'tool-call.requested'>, signal: AbortSignal): Promise<ToolOutcome> {
    const { serverId, toolName } = call;
    const connection = serverId === null ? undefined : this.#servers.connectionOf(serverId);
    if (!connection) return { status: 'failed', reason: `the server ${serverId ?? ''} is not connected` };
    const { turnId, callId } = call;
    return connection.callTool(toolName, call.arguments, { signal, origin: { turnId, callId } });
  }

  list(serverId: string): readonly Tool[] {
    return this.#servers.toolsOf(serverId);
  }

  /** A call that a client asks for, outside of any turn. Refuses one that cannot be made. */
  async prepare(
    serverId: string,
    toolName: string,
    args: Record<string, unknown>,
    trace?: TraceContext,
  ): Promise<Work<ToolExecution>> {
    const { id, status } = this.#servers.recordOf(serverId);
    const failed = (reason: string): ServiceError =>
      new ServiceError('TOOL_EXECUTION_FAILED', `The tool ${toolName} failed.`, {
        toolName,
        serverId: id,
        reason,
      });
    const connection = this.#servers.connectionOf(id);
    if (!connection) throw failed(`the server ${id} is not connected (its status is ${status})`);
    const tool = this.list(id).find((candidate) => candidate.name === toolName);
    if (!tool) {
      throw new ServiceError('TOOL_NOT_FOUND', `The server ${id} has no tool ${toolName}.`, {
        toolName,
        serverId: id,
        available: this.list(id).map((candidate) => candidate.name),
      });
    }
    const issue = await this.issueWith(tool, args);
    if (issue !== undefined) {
      throw new ServiceError(
        'INVALID_REQUEST',
        `The arguments do not fit the tool's inputSchema: ${issue}.`,
        {
          issue,
          toolName,
          serverId: id,
        },
      );
    }
    const run = async (): Promise<ToolExecution> => {
      const begun = performance.now();
      const outcome = await connection.callTool(toolName, args, trace && { trace });
      if (outcome.status === 'failed') throw failed(outcome.reason);
      const durationMs = Math.round((performance.now() - begun) * 1000) / 1000;
      return { serverId: id, result: outcome.result, durationMs };
    };
    return { repeatable: tool.repeatable, run };
  }
}

function toolOffer(available: readonly OfferedTool[], issueWith: SchemaIssue): ToolOffer {
  // Denied tools included: the model may know them from before.
  const names = nameToolsForModel(available);
  const allowed = [...names].filter(([, { policy }]) => policy !== 'deny');
  const tools = allowed.map(([name, { tool }]) => ({
    name,
    description: tool.description,
    inputSchema: tool.inputSchema,
  }));
  return { tools, resolve: (raw, messages) => requestedCalls(raw, names, messages, issueWith) };
}
