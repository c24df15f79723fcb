import type { JsonObject } from '../../../src/core/json-object.ts';
import { JsonRpcError } from '../../../src/core/json-rpc.ts';
import type {
  ForwardedRequest,
  ForwardedRequestOptions,
  ToolServerConnection,
} from '../../../src/ports/tool-server.ts';

type Essential = Pick<ToolServerConnection, 'listTools' | 'callTool' | 'close'>;

/** A connection of the essential parts. Requests that are passed on reach the same tools. */
export function connectionDouble(server: Essential & Partial<ToolServerConnection>): ToolServerConnection {
  return {
    era: 'sessions',
    capabilities: { tools: {} },
    instructions: undefined,
    request: (request, options) => passed(server, request, options),
    ...server,
  };
}

async function passed(
  server: Essential,
  { method, params }: ForwardedRequest,
  options?: ForwardedRequestOptions,
): Promise<JsonObject> {
  if (method === 'tools/list') return { tools: await server.listTools() };
  if (method !== 'tools/call') throw new JsonRpcError(-32601, 'Method not found');
  const args = typeof params.arguments === 'object' ? { ...params.arguments } : {};
  const outcome = await server.callTool(String(params.name), args, options);
  if (outcome.status === 'succeeded') return { ...outcome.result };
  return { content: [{ type: 'text', text: outcome.reason }], ...outcome.result, isError: true };
}
