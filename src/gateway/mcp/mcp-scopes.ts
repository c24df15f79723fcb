import { z } from 'zod';
import type { Scope } from '../../core/access/scopes.ts';
import { REQUEST_SCOPES } from '../../ports/request-scopes.ts';
import { messagesOf } from './json-rpc-body.ts';

/** What a client needs for each tool and each resource of the agent. */
export const MCP_TOOL_SCOPES: Readonly<Record<string, Scope | null>> = {
  chat_with_agent: REQUEST_SCOPES['turn.start'],
  reset_conversation: REQUEST_SCOPES['session.reset'],
};
export const MCP_RESOURCE_SCOPES: Readonly<Record<string, Scope | null>> = {
  'agent://card': REQUEST_SCOPES['mcp-server.list'],
  'agent://config.yaml': REQUEST_SCOPES['config.export'],
};

const Call = z.discriminatedUnion('method', [
  z.object({ method: z.literal('tools/call'), params: z.object({ name: z.string() }) }),
  z.object({ method: z.literal('resources/read'), params: z.object({ uri: z.string() }) }),
]);

/**
 * The scopes that a body of JSON-RPC needs. Told by HTTP, before the call, so that a client can ask its issuer for more. A
 * body that cannot be read needs none: the transport refuses it.
 */
export function scopesOfBody(body: string): Scope[] {
  return messagesOf(body).flatMap((message) => {
    const { data } = Call.safeParse(message);
    if (!data) return [];
    const [scopes, name] =
      data.method === 'tools/call'
        ? [MCP_TOOL_SCOPES, data.params.name]
        : [MCP_RESOURCE_SCOPES, data.params.uri];
    const scope = Object.hasOwn(scopes, name) ? scopes[name] : null;
    return scope ? [scope] : [];
  });
}
