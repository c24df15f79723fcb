import type { RequestContext } from '../../core/request/request-context.ts';
import type { Unsubscribe } from '../../ports/bus.ts';
import type { McpCall } from './mcp-call.ts';
import type { LogLevel, McpObject } from './mcp-object.ts';

/** What MCP clients can do here. Requests whose handler is absent are answered with "Method not found". */
export interface McpSurface {
  /** As `initialize` and `server/discover` tell them. Each declared capability needs its handlers. */
  readonly capabilities: McpObject;
  readonly listTools?: McpHandler<McpObject>;
  readonly callTool?: McpHandler<NamedParams>;
  readonly listResources?: McpHandler<McpObject>;
  readonly listTemplates?: McpHandler<McpObject>;
  readonly readResource?: McpHandler<UriParams>;
  readonly listPrompts?: McpHandler<McpObject>;
  readonly getPrompt?: McpHandler<NamedParams>;
  readonly complete?: McpHandler<McpObject>;
  /** The client has set its log level. Only clients of the older era do. */
  readonly setLevel?: McpHandler<LevelParams>;
  /**
   * The client wants to hear of this resource, until it ends that. Without it, only `onChange` is used, and any address is accepted:
   * MCP's conformance suite subscribes to one that nobody has.
   */
  readonly watch?: (params: UriParams, call: Pick<McpCall, 'context'>) => Promise<Unsubscribe>;
  /** The extension for tasks, in the newer era: calls of tools whose results are fetched later. */
  readonly getTask?: McpHandler<TaskParams>;
  /** The answers are the input of the call. */
  readonly updateTask?: McpHandler<TaskParams>;
  readonly cancelTask?: McpHandler<TaskParams>;
  /** Tells of changes that this client may hear of. */
  readonly onChange?: (listener: (change: McpChange) => void, context: RequestContext) => Unsubscribe;
}

/**
 * Answers one request with a result. In the newer era the result may be `input_required`, and lists and reads may bring
 * `ttlMs` and `cacheScope`; clients of the older era do not get these fields.
 */
export type McpHandler<Params> = (params: Params, call: McpCall) => Promise<McpObject>;

export interface NamedParams extends McpObject {
  readonly name: string;
  readonly arguments?: McpObject | undefined;
}

export interface UriParams extends McpObject {
  readonly uri: string;
}

export interface LevelParams extends McpObject {
  readonly level: LogLevel;
}

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

export interface TaskParams extends McpObject {
  readonly taskId: string;
}

/** A list is another one now, or a resource has another content. */
export type McpChange =
  | { readonly kind: 'tools_list_changed' | 'prompts_list_changed' | 'resources_list_changed' }
  | { readonly kind: 'resource_updated'; readonly uri: string };
