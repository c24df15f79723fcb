import { JsonRpcError, RPC } from '../../../core/json-rpc.ts';
import type { RequestContext } from '../../../core/request/request-context.ts';
import type { Unsubscribe } from '../../../ports/bus.ts';
import type { McpCall } from '../mcp-call.ts';
import type { McpObject } from '../mcp-object.ts';
import type { McpChange } from '../mcp-surface.ts';
import type { AgentSurfaceDeps } from './agent-deps.ts';
import { newConversation } from './conversation.ts';

const CARD_URI = 'agent://card';
const CONFIG_URI = 'agent://config.yaml';

export const RESOURCES = [
  {
    uri: CARD_URI,
    name: 'agent-card',
    title: 'Agent card',
    description: 'Name, version, model and tool servers of the agent.',
    mimeType: 'application/json',
  },
  {
    uri: CONFIG_URI,
    name: 'agent-configuration',
    title: 'Agent configuration',
    description: 'The agent file, without secrets.',
    mimeType: 'application/yaml',
  },
];

export async function readResource(
  { bus, card }: Pick<AgentSurfaceDeps, 'bus' | 'card'>,
  uri: string,
  { context }: Pick<McpCall, 'context'>,
): Promise<McpObject> {
  if (uri === CARD_URI) {
    const servers = await bus.send('mcp-server.list', {}, context);
    const text = JSON.stringify({
      ...card(),
      servers: servers.map(({ name, status }) => ({ name, status })),
    });
    return { contents: [{ uri, mimeType: 'application/json', text }] };
  }
  if (uri === CONFIG_URI) {
    const text = await bus.send('config.export', {}, context);
    return { contents: [{ uri, mimeType: 'application/yaml', text }] };
  }
  throw new JsonRpcError(RPC.invalidParams, `Resource ${uri} not found`, { uri });
}

/** Tells when a tool server of the card has another status. Nothing tells of the configuration. */
export function onCardChange(
  { bus }: Pick<AgentSurfaceDeps, 'bus'>,
  listener: (change: McpChange) => void,
  context: RequestContext,
): Unsubscribe {
  const statuses = new Map<string, unknown>();
  let isKnown = false;
  const stop = bus.onMachines(
    // The machines of tool servers come with those of any session. This one has none of its own.
    { sessionId: newConversation() },
    ({ id, value, status }) => {
      const now = status === 'active' ? value : status;
      if (statuses.get(id) === now) return;
      statuses.set(id, now);
      if (isKnown) listener({ kind: 'resource_updated', uri: CARD_URI });
    },
    context,
  );
  isKnown = true;
  return stop;
}
