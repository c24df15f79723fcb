import { z } from 'zod';
import { McpServerConfig } from './mcp-server-config.ts';

/* Facts about tool servers that clients connected at run time. They have streams of their own. */

/** A tool server was connected at run time; the next start connects it again. `secretId` tells the stream of its configuration. */
export const McpServerRegistered = z.object({
  type: z.literal('mcp-server.registered'),
  name: z.string(),
  secretId: z.string(),
});

/** The same as version 0.1.0 wrote it, with the secrets of the configuration in clear. Only read, never written. */
export const McpServerAdded = z.object({
  type: z.literal('mcp-server.added'),
  name: z.string(),
  config: McpServerConfig,
});

/** What must not stand in the log in clear, encrypted. It has a stream of its own, to be erased with it. */
export const SecretKept = z.object({ type: z.literal('secret.kept'), sealed: z.string() });

export const McpServerRemoved = z.object({ type: z.literal('mcp-server.removed'), name: z.string() });
