import type { ProtectedResourceMetadata } from '../../wire/protected-resource-metadata.ts';
import { jsonResponse } from '../http/http-message.ts';
import type { Route } from '../http/router.ts';
import type { ProtectedMcp } from '../security/protected-mcp.ts';
import { mcpPath, metadataPaths, resourceMetadata } from '../security/protected-resource.ts';

export interface ResourceRouteDeps {
  readonly mcp: ProtectedMcp;
  /** The agents. */
  readonly agents: readonly {
    /** What stands before the paths of the agent, such as `/agents/support`; nothing for the first one. */
    readonly prefix?: string;
    /** For people. */
    readonly name: string;
  }[];
}

/** The metadata of `/mcp` as an OAuth 2.1 protected resource (RFC 9728). */
export function resourceRoutes({ mcp, agents }: ResourceRouteDeps): Route[] {
  return agents.flatMap(({ prefix, name }) =>
    metadataPaths(mcpPath(prefix)).map(
      (path): Route => ({
        method: 'GET',
        path,
        access: 'open',
        handler: async (request) =>
          jsonResponse<ProtectedResourceMetadata>(
            resourceMetadata(mcp.resourceOf({ ...request, prefix }), {
              issuers: mcp.issuers,
              scopes: mcp.scopes,
              name,
            }),
          ),
      }),
    ),
  );
}
