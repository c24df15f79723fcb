import type { ProtectedResourceMetadata } from '../../wire/protected-resource-metadata.ts';
import { jsonResponse } from '../http/http-message.ts';
import type { Route } from '../http/router.ts';
import type { ProtectedMcp } from '../security/protected-mcp.ts';
import { metadataPaths, resourceMetadata } from '../security/protected-resource.ts';

export interface ResourceRouteDeps {
  readonly mcp: ProtectedMcp;
  /** The name of the agent. */
  readonly name: string;
}

/** The metadata of `/mcp` as an OAuth 2.1 protected resource (RFC 9728). */
export function resourceRoutes({ mcp, name }: ResourceRouteDeps): Route[] {
  return metadataPaths().map((path) => ({
    method: 'GET',
    path,
    access: 'open',
    handler: async (request) =>
      jsonResponse<ProtectedResourceMetadata>(
        resourceMetadata(mcp.resourceOf(request), { issuers: mcp.issuers, scopes: mcp.scopes, name }),
      ),
  }));
}
