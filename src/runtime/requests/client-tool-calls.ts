import { ServiceError } from '../../core/errors.ts';
import type { Tool, ToolExecution } from '../../core/tool-call/tool.ts';
import type { TraceContext } from '../../core/trace.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';
import type { McpSupervisor } from '../tools/mcp-supervisor.ts';
import type { Work } from './keyed-requests.ts';

/** A tool call as a client asks for it. */
export interface ClientToolCall {
  readonly serverId: string;
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly trace?: TraceContext | undefined;
}

/** Tool calls that clients make themselves, outside of any turn. */
export class ClientToolCalls {
  readonly #servers: McpSupervisor;
  readonly #schemas: SchemaCheck;

  constructor(servers: McpSupervisor, schemas: SchemaCheck) {
    this.#servers = servers;
    this.#schemas = schemas;
  }

  /** Throws a `ServiceError` for a call that cannot be made. */
  async prepare(call: ClientToolCall): Promise<Work<ToolExecution>> {
    const { toolName, arguments: args, trace } = call;
    const { id: serverId, status } = this.#servers.recordOf(call.serverId);
    const failed = (reason: string): ServiceError => toolFailed({ toolName, serverId, reason });
    const connection = this.#servers.connectionOf(serverId);
    if (!connection) throw failed(`the server ${serverId} is not connected (its status is ${status})`);
    const tool = this.#tool(serverId, toolName);
    const issue = await this.#schemas.issueWith(tool.inputSchema, args);
    if (issue !== undefined) throw misfit({ issue, toolName, serverId });
    const run = async (): Promise<ToolExecution> => {
      const begun = performance.now();
      const outcome = await connection.callTool(toolName, args, trace && { trace });
      if (outcome.status === 'failed') throw failed(outcome.reason);
      const durationMs = Math.round((performance.now() - begun) * 1000) / 1000;
      return { serverId, result: outcome.result, durationMs };
    };
    return { repeatable: tool.repeatable, run };
  }

  #tool(serverId: string, toolName: string): Tool {
    const tools = this.#servers.toolsOf(serverId);
    const tool = tools.find(({ name }) => name === toolName);
    if (tool) return tool;
    throw new ServiceError('TOOL_NOT_FOUND', `The server ${serverId} has no tool ${toolName}.`, {
      toolName,
      serverId,
      available: tools.map(({ name }) => name),
    });
  }
}

function toolFailed(details: { toolName: string; serverId: string; reason: string }): ServiceError {
  return new ServiceError('TOOL_EXECUTION_FAILED', `The tool ${details.toolName} failed.`, details);
}

function misfit(details: { issue: string; toolName: string; serverId: string }): ServiceError {
  const message = `The arguments do not fit the tool's inputSchema: ${details.issue}.`;
  return new ServiceError('INVALID_REQUEST', message, details);
}
