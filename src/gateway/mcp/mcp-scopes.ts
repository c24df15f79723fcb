import { z } from 'zod';
import type { McpExposure } from '../../config/schema/agent-config.ts';
import type { NeededScopes, Scope } from '../../core/access/scopes.ts';
import { scopeOf, scopesOfAll } from '../../ports/request-rules.ts';
import { FIRST_FAULT } from '../requests/first-fault.ts';
import { CHAT_TOOL_NAME } from './agent/chat-tool-name.ts';

/** What a client needs for each tool and each resource of the agent. */
export const MCP_TOOL_SCOPES: Readonly<Record<string, NeededScopes>> = {
  [CHAT_TOOL_NAME]: scopesOfAll('turn.start', 'session.events'),
  reset_conversation: scopeOf('session.reset'),
};
export const MCP_RESOURCE_SCOPES: Readonly<Record<string, NeededScopes>> = {
  'agent://card': scopeOf('mcp-server.list'),
  'agent://config.yaml': scopeOf('config.export'),
};
/** To hear of changes. Who may not read a resource is not told of it. */
const MCP_SUBSCRIPTION_SCOPES: Readonly<Record<string, NeededScopes>> = {
  'agent://card': scopeOf('session.events'),
};

/** A task is read from the log, whatever is asked of it. */
const MCP_TASK_SCOPES: Readonly<Record<'tasks/get' | 'tasks/update' | 'tasks/cancel', readonly Scope[]>> = {
  'tasks/get': ['sessions:read'],
  'tasks/update': ['sessions:read', 'approvals:decide'],
  'tasks/cancel': ['sessions:read', 'sessions:write'],
};

const ForwardedMessage = z.object({
  method: z.enum([
    'tools/call',
    'resources/read',
    'resources/subscribe',
    'prompts/get',
    'completion/complete',
  ]),
});
const FORWARDED_KINDS: Readonly<Record<z.infer<typeof ForwardedMessage>['method'], readonly McpExposure[]>> =
  {
    'tools/call': ['tools'],
    'resources/read': ['resources'],
    'resources/subscribe': ['resources'],
    'prompts/get': ['prompts'],
    'completion/complete': ['prompts', 'resources'],
  };
/** Names are looked up in the lists of the servers before the request is passed on. */
const FORWARDED_SCOPES: readonly Scope[] = ['servers:read', 'tools:execute'];

/** Made with the first call. */
const Call = z.lazy(callSchema);

function callSchema() {
  const tool = z.object({ name: z.string().refine((name) => Object.hasOwn(MCP_TOOL_SCOPES, name)) });
  const resource = z.object({ uri: z.string().refine((uri) => uri.startsWith('agent://')) });
  return z.discriminatedUnion('method', [
    z.object({ method: z.literal('tools/call'), params: tool }),
    z.object({ method: z.literal('resources/read'), params: resource }),
    z.object({ method: z.literal('resources/subscribe'), params: resource }),
    z.object({ method: z.literal('tasks/get') }),
    z.object({ method: z.literal('tasks/update') }),
    z.object({ method: z.literal('tasks/cancel') }),
    z.object({
      method: z.literal('subscriptions/listen'),
      params: z.object({ notifications: z.object({ resourceSubscriptions: z.array(z.string()) }) }),
    }),
  ]);
}

/**
 * The scopes that messages of JSON-RPC need. Told by HTTP, before the call, so that a client can ask its issuer for more. A
 * message that cannot be read needs none: the transport refuses it.
 */
export function scopesOf(messages: readonly unknown[], exposes: ReadonlySet<McpExposure>): Scope[] {
  const scopes = messages.flatMap((message) => {
    const { data } = Call.safeParse(message, FIRST_FAULT);
    if (data) return scopesOfCall(data);
    // What is not the agent's own goes to a tool server.
    const { data: forwarded } = ForwardedMessage.safeParse(message);
    return forwarded && FORWARDED_KINDS[forwarded.method].some((kind) => exposes.has(kind))
      ? FORWARDED_SCOPES
      : [];
  });
  return [...new Set(scopes)];
}

function scopesOfCall(call: z.output<typeof Call>): Scope[] {
  switch (call.method) {
    case 'tools/call':
      return scopesIn(MCP_TOOL_SCOPES, call.params.name);
    case 'resources/read':
      return scopesIn(MCP_RESOURCE_SCOPES, call.params.uri);
    case 'resources/subscribe':
      return scopesIn(MCP_SUBSCRIPTION_SCOPES, call.params.uri);
    case 'tasks/get':
    case 'tasks/update':
    case 'tasks/cancel':
      return [...MCP_TASK_SCOPES[call.method]];
    case 'subscriptions/listen':
      return call.params.notifications.resourceSubscriptions.flatMap((uri) =>
        scopesIn(MCP_SUBSCRIPTION_SCOPES, uri),
      );
    default:
      return call satisfies never;
  }
}

function scopesIn(scopes: Readonly<Record<string, NeededScopes>>, name: string): Scope[] {
  return Object.hasOwn(scopes, name) ? [scopes[name] ?? []].flat() : [];
}
