import { ServiceError } from '../../core/errors.ts';
import type { CallId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json-object.ts';
import { JsonRpcError, RPC } from '../../core/json-rpc.ts';
import type { Tool, ToolExecution, ToolOutcome } from '../../core/tool-call/tool.ts';
import type { ToolCallSignal, ToolProgress } from '../../core/tool-call/tool-progress.ts';
import type { ServerQuestion } from '../../core/tool-server/server-question.ts';
import type { TraceContext } from '../../core/trace.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';
import type { ToolCallOptions } from '../../ports/tool-server.ts';
import type { QuestionSettings } from '../../ports/turn-tools.ts';
import type { ToolServers } from '../tools/tool-servers.ts';
import type { Work } from './keyed-requests.ts';

/** A tool call as a client asks for it. */
export interface ClientToolCall {
  readonly serverId: string;
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What stands before the paths of the agent, where there are several. */
  readonly agentPath?: string | undefined;
  readonly trace?: TraceContext | undefined;
  /** With an id, the call can be watched and cancelled. */
  readonly callId?: CallId | undefined;
}

export interface ClientToolCallDeps {
  readonly servers: ToolServers;
  readonly schemas: SchemaCheck;
  /** What a tool server is told. */
  readonly questionsOf: (serverId: string) => Pick<QuestionSettings, 'roots'>;
  /** Tells the client that watches the call. */
  readonly tell: (callId: CallId, signal: ToolCallSignal) => void;
}

/** Tool calls that clients make themselves, outside of any turn. */
export class ClientToolCalls {
  readonly #deps: ClientToolCallDeps;
  /** The running calls that have an id. */
  readonly #running = new Map<CallId, AbortController>();

  constructor(deps: ClientToolCallDeps) {
    this.#deps = deps;
  }

  /** Whether there was such a call. It then settles as failed. */
  cancel(callId: CallId): boolean {
    const running = this.#running.get(callId);
    running?.abort();
    return running !== undefined;
  }

  /** Throws a `ServiceError` for a call that cannot be made. */
  async prepare(call: ClientToolCall): Promise<Work<ToolExecution>> {
    const { toolName, arguments: args } = call;
    const { servers, schemas } = this.#deps;
    const { id: serverId, status } = servers.recordOf(call.serverId);
    const failed = (reason: string, fix: { suggestion?: string } = {}): ServiceError =>
      toolFailed({ toolName, serverId, reason, ...fix });
    const connection = servers.connectionOf(serverId);
    if (!connection)
      throw failed(
        `the server ${serverId} is not connected (its status is ${status})`,
        // One that is connecting needs nothing else.
        status === 'connecting' ? {} : { suggestion: reconnect(serverId, call.agentPath) },
      );
    const tool = this.#tool(serverId, toolName);
    const { issue, field } = await schemas.ofServer(tool.inputSchema, args);
    if (issue !== undefined)
      throw misfit({ ...(field !== undefined && { field }), issue, toolName, serverId });
    const run = async (): Promise<ToolExecution> => {
      const begun = performance.now();
      const outcome = await this.#watched(call, (options) => connection.callTool(toolName, args, options));
      if (outcome.status === 'failed') throw failed(outcome.reason);
      const durationMs = Math.round((performance.now() - begun) * 1000) / 1000;
      return { serverId, result: outcome.result, durationMs };
    };
    return { repeatable: tool.repeatable, run };
  }

  /** Makes the call cancellable while it runs, and tells its progress, if it has an id. */
  async #watched(
    { callId, trace, serverId }: ClientToolCall,
    run: (options: ToolCallOptions) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    const onQuestion = (question: ServerQuestion) => this.#answer(serverId, question);
    const options = { ...(trace && { trace }), onQuestion };
    if (callId === undefined) return run(options);
    const abort = new AbortController();
    this.#running.set(callId, abort);
    this.#deps.tell(callId, { type: 'tool.begun' });
    try {
      const onProgress = (progress: ToolProgress) =>
        this.#deps.tell(callId, { type: 'tool.progress', progress });
      return await run({ ...options, signal: abort.signal, onProgress });
    } finally {
      this.#running.delete(callId);
    }
  }

  /** Outside of a turn, there is neither a model nor anybody to ask. */
  async #answer(serverId: string, { method }: ServerQuestion): Promise<JsonObject> {
    if (method === 'roots/list') return { roots: this.#deps.questionsOf(serverId).roots };
    throw new JsonRpcError(
      RPC.methodNotFound,
      `${method} is answered only while the agent works on a message`,
    );
  }

  #tool(serverId: string, toolName: string): Tool {
    const tools = this.#deps.servers.toolsOf(serverId);
    const tool = tools.find(({ name }) => name === toolName);
    if (tool) return tool;
    throw new ServiceError('TOOL_NOT_FOUND', `The server ${serverId} has no tool ${toolName}.`, {
      toolName,
      serverId,
      available: tools.map(({ name }) => name),
    });
  }
}

function reconnect(serverId: string, agentPath = ''): string {
  return `POST ${agentPath}/api/mcp/servers/${encodeURIComponent(serverId)}/reconnect connects it.`;
}

function toolFailed(
  details: Record<'toolName' | 'serverId' | 'reason', string> & { suggestion?: string },
): ServiceError {
  return new ServiceError('TOOL_EXECUTION_FAILED', `The tool ${details.toolName} failed.`, details);
}

function misfit(details: {
  field?: string;
  issue: string;
  toolName: string;
  serverId: string;
}): ServiceError {
  const message = `The arguments do not fit the tool's inputSchema: ${details.issue}.`;
  return new ServiceError('INVALID_REQUEST', message, details);
}
