import { z } from 'zod';
import { McpServerConfig } from './mcp-server-config.ts';

/* Events about tool servers that clients connected at run time. */

/**
 * Earlier releases took names with half of a surrogate pair, which no URL can have. Such a name is read with U+FFFD in place
 * of the half, so that the server can be removed.
 */
const LoggedName = z.string().overwrite((name) => name.toWellFormed());

/** A tool server was connected. The next start connects it again. `secretId` names the stream of its configuration. */
export const McpServerRegistered = z.object({
  type: z.literal('mcp-server.registered'),
  name: LoggedName,
  secretId: z.string(),
});

/** Version 0.1.0 wrote this instead, with the secrets of the configuration in clear text. It is only read. */
export const McpServerAdded = z.object({
  type: z.literal('mcp-server.added'),
  name: LoggedName,
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
  name: LoggedName,
  inFile: z.enum(['disconnected', 'connected']).optional(),
});
