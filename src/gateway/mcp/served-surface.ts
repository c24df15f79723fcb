import type { AgentSurfaceDeps } from './agent/agent-deps.ts';
import { agentSurface } from './agent/agent-surface.ts';
import type { McpSurface } from './mcp-surface.ts';

/** All that MCP clients can do here. */
export function servedSurface(deps: AgentSurfaceDeps): McpSurface {
  return agentSurface(deps);
}
