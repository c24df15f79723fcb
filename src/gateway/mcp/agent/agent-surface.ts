import type { z } from 'zod';
import { ServiceError } from '../../../core/errors.ts';
import { JsonRpcError, RPC } from '../../../core/json-rpc.ts';
import { errorText } from '../../requests/error-text.ts';
import { parseFields } from '../../requests/request-fields.ts';
import { ifAllowed } from '../if-allowed.ts';
import type { McpCall } from '../mcp-call.ts';
import type { McpObject } from '../mcp-object.ts';
import type { McpSurface, NamedParams } from '../mcp-surface.ts';
import type { AgentSurfaceDeps } from './agent-deps.ts';
import { onCardChange, RESOURCES, readResource } from './agent-resources.ts';
import { cancelTask, getTask, updateTask } from './agent-tasks.ts';
import { CHAT_TOOL, ChatArguments, chatWithAgent } from './chat-tool.ts';
import { RESET_TOOL, ResetArguments, resetConversation } from './reset-tool.ts';
import { toolError } from './tool-result.ts';

/** The lists change with a new version of the service only. */
const LIST_TTL_MS = 60_000;
const HINTS = { ttlMs: LIST_TTL_MS, cacheScope: 'private' } as const;

/** The agent for MCP clients: a tool to talk to it, one to begin anew, and what it is as resources. */
export function agentSurface(deps: AgentSurfaceDeps): McpSurface {
  return {
    capabilities: { tools: {}, resources: { subscribe: true } },
    listTools: async () => ({ tools: [CHAT_TOOL, RESET_TOOL], ...HINTS }),
    callTool: (params, call) => callTool(deps, params, call),
    listResources: async () => ({ resources: RESOURCES, ...HINTS }),
    listTemplates: async () => ({ resourceTemplates: [], ...HINTS }),
    readResource: ({ uri }, call) => readResource(deps, uri, call),
    getTask: (params, call) => getTask(deps, params, call),
    updateTask: (params, call) => updateTask(deps, params, call),
    cancelTask: (params, call) => cancelTask(deps, params, call),
    onChange: (listener, context) => ifAllowed(() => onCardChange(deps, listener, context)),
  };
}

async function callTool(
  deps: AgentSurfaceDeps,
  { name, arguments: given = {} }: NamedParams,
  call: McpCall,
): Promise<McpObject> {
  switch (name) {
    case CHAT_TOOL.name:
      return withArguments(ChatArguments, given, (asked) => chatWithAgent(deps, asked, call));
    case RESET_TOOL.name:
      return withArguments(ResetArguments, given, (asked) => resetConversation(deps, asked, call));
    default: {
      const message = `Tool ${name} not found`;
      // Clients of the older era have always got this as a result here.
      if (call.era === 'legacy') return toolError(message);
      throw new JsonRpcError(RPC.invalidParams, message, { name });
    }
  }
}

/** Bad arguments are a result and not an error of the protocol, so that the model sees them and can do better. */
async function withArguments<S extends z.ZodType>(
  schema: S,
  given: McpObject,
  use: (asked: z.output<S>) => Promise<McpObject>,
): Promise<McpObject> {
  let asked: z.output<S>;
  try {
    asked = parseFields(schema, given);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return toolError(`Invalid arguments: ${errorText(error)}`);
  }
  return use(asked);
}
