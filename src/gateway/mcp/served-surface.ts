import type { AgentSurfaceDeps } from './agent/agent-deps.ts';
import { RESOURCES } from './agent/agent-resources.ts';
import { agentSurface } from './agent/agent-surface.ts';
import { CHAT_TOOL } from './agent/chat-tool.ts';
import { RESET_TOOL } from './agent/reset-tool.ts';
import type { McpSurface } from './mcp-surface.ts';
import { mergedSurface, type OwnNames } from './merged-surface.ts';
import { type PassedKind, passedSurface } from './passed/passed-surface.ts';

const NOTHING: OwnNames = { tools: new Set(), uris: new Set() };
const OF_THE_AGENT: OwnNames = {
  tools: new Set([CHAT_TOOL.name, RESET_TOOL.name]),
  uris: new Set(RESOURCES.map(({ uri }) => uri)),
};

/** All that MCP clients can do here: what the agent file exposes. */
export function servedSurface(deps: AgentSurfaceDeps): McpSurface {
  const { exposes } = deps;
  const passed = new Set<PassedKind>();
  for (const kind of exposes) if (kind !== 'agent') passed.add(kind);
  const own = exposes.has('agent') ? OF_THE_AGENT : NOTHING;
  if (passed.size === 0) return agentSurface(deps);
  const servers = passedSurface({ ...deps, reserved: own.tools }, passed);
  return exposes.has('agent') ? mergedSurface(agentSurface(deps), own, servers) : servers;
}
