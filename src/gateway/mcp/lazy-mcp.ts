import type { Server } from '@modelcontextprotocol/server';
import type { AgentSurfaceDeps } from './agent/agent-deps.ts';
import type { McpClient } from './mcp-client.ts';
import type { McpSurface } from './mcp-surface.ts';
import type { SessionTransport, TransportDeps } from './sessions/session-transport.ts';

export interface LoadedMcp {
  readonly sdk: typeof import('@modelcontextprotocol/server');
  readonly surface: McpSurface;
  readonly serverFor: (client: McpClient) => Server;
  readonly transportOf: (deps: TransportDeps) => SessionTransport;
}

/** Loads the SDK with the first client: loading takes long, and many instances never need it. */
export class LazyMcp {
  readonly #deps: AgentSurfaceDeps;
  #loaded: Promise<LoadedMcp> | undefined;

  constructor(deps: AgentSurfaceDeps) {
    this.#deps = deps;
  }

  load(): Promise<LoadedMcp> {
    this.#loaded ??= loadMcp(this.#deps);
    return this.#loaded;
  }
}

async function loadMcp(deps: AgentSurfaceDeps): Promise<LoadedMcp> {
  const [sdk, { mcpServer }, { servedSurface }, { SessionTransport }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('./mcp-server.ts'),
    import('./served-surface.ts'),
    import('./sessions/session-transport.ts'),
  ]);
  const surface = servedSurface(deps);
  return {
    sdk,
    surface,
    serverFor: (client) => mcpServer({ ...deps, surface }, client),
    transportOf: (session) => new SessionTransport(session),
  };
}
