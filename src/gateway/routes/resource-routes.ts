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

/**
 * The metadata of the MCP endpoints as OAuth 2.1 protected resources (RFC 9728). Those of an agent are also below its path,
 * where a client finds them that takes the address of the agent for that of a service.
 */
export function resourceRoutes({ mcp, agents }: ResourceRouteDeps): Route[] {
  const names = new Map(agents.map(({ prefix, name }) => [prefix, name]));
  return agents.flatMap(({ prefix: ofPath, name }) =>
    metadataPaths(mcpPath(ofPath)).map(
      (path): Route => ({
        method: 'GET',
        path,
        access: 'open',
        handler: async (request) => {
          const prefix = ofPath ?? request.prefix;
          return jsonResponse<ProtectedResourceMetadata>(
            resourceMetadata(mcp.resourceOf({ ...request, prefix }), {
              issuers: mcp.issuers,
              scopes: mcp.scopes,
              name: names.get(prefix) ?? name,
            }),
          );
        },
      }),
    ),
  );
}
