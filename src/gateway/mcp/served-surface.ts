import type { AgentSurfaceDeps } from './agent/agent-deps.ts';
import { RESOURCES } from './agent/agent-resources.ts';
import { agentSurface } from './agent/agent-surface.ts';
import { CHAT_TOOL } from './agent/chat-tool.ts';
import { RESET_TOOL } from './agent/reset-tool.ts';
import { type ForwardedKind, forwardedSurface } from './forwarded/forwarded-surface.ts';
import type { McpSurface } from './mcp-surface.ts';
import { mergedSurface, type OwnNames } from './merged-surface.ts';

const NOTHING: OwnNames = { tools: new Set(), uris: new Set() };
const OF_THE_AGENT: OwnNames = {
  tools: new Set([CHAT_TOOL.name, RESET_TOOL.name]),
  uris: new Set(RESOURCES.map(({ uri }) => uri)),
};

/** All that MCP clients can do here: what the agent file exposes. */
export function servedSurface(deps: AgentSurfaceDeps): McpSurface {
  const { exposes } = deps;
  const forwarded = new Set<ForwardedKind>();
  for (const kind of exposes) if (kind !== 'agent') forwarded.add(kind);
  const own = exposes.has('agent') ? OF_THE_AGENT : NOTHING;
  if (forwarded.size === 0) return agentSurface(deps);
  const servers = forwardedSurface({ ...deps, reserved: own.tools }, forwarded);
  return exposes.has('agent') ? mergedSurface(agentSurface(deps), own, servers) : servers;
}
