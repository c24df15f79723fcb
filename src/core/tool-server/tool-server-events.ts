import { z } from 'zod';
import { McpServerConfig } from './mcp-server-config.ts';

/* Events about tool servers that clients connected at run time. */

/** A tool server was connected. The next start connects it again. `secretId` names the stream of its configuration. */
export const McpServerRegistered = z.object({
  type: z.literal('mcp-server.registered'),
  name: z.string(),
  secretId: z.string(),
});

/** Version 0.1.0 wrote this instead, with the secrets of the configuration in clear text. It is only read. */
export const McpServerAdded = z.object({
  type: z.literal('mcp-server.added'),
  name: z.string(),
  config: McpServerConfig,
});

/** An encrypted secret. It has a stream of its own, so that erasing the stream erases the secret. */
export const SecretKept = z.object({ type: z.literal('secret.kept'), sealed: z.string() });

/**
 * The next start does not connect the server again. With `inFile` it is about the server of this name in the agent file of
 * a cluster: no node is to be connected to it, or all of them are again. Earlier versions do not see the field, and have no
 * server to remove.
 */
export const McpServerRemoved = z.object({
  type: z.literal('mcp-server.removed'),
  name: z.string(),
  inFile: z.enum(['disconnected', 'connected']).optional(),
});
