import { z } from 'zod';
import { Scope } from '../core/access/scopes.ts';

/** RFC 9728: what an MCP client needs to know to get a token for an MCP endpoint. */
export const ProtectedResourceMetadata = z.object({
  /** The public URL of the endpoint. Clients ask for tokens with this audience. */
  resource: z.url(),
  /** Issuers of tokens. Left out when the service accepts API keys only. */
  authorization_servers: z.array(z.url()).optional(),
  scopes_supported: z.array(Scope).optional(),
  bearer_methods_supported: z.tuple([z.literal('header')]),
  /** For people. */
  resource_name: z.string(),
});
export type ProtectedResourceMetadata = z.infer<typeof ProtectedResourceMetadata>;
