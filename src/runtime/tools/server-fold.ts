import type { Envelope } from '../../core/log/envelope.ts';
import type { LoggedEvent } from '../../core/log/events.ts';
import { CLEAR_SERVERS_STREAM, SERVERS_STREAM } from '../../core/log/streams.ts';
import type { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';

/** The tool servers that were connected at run time: the id of the secret of each, by the server's name. */
export type SecretIds = Map<string, string>;

/** Applies an event about tool servers that were connected at run time. */
export function foldServer(secretIds: SecretIds, { event }: Envelope<LoggedEvent>): void {
  if (event.type === 'mcp-server.registered') secretIds.set(event.name, event.secretId);
  else if (event.type !== 'mcp-server.removed') throw unexpected(SERVERS_STREAM, event);
  else if (event.inFile === undefined) secretIds.delete(event.name);
}

/** Servers of the agent file that nobody is to be connected to. By name. */
export type Disconnected = Set<string>;

/** Applies an event about tool servers, as far as it is about those of the agent file. */
export function foldDisconnected(disconnected: Disconnected, { event }: Envelope<LoggedEvent>): void {
  if (event.type !== 'mcp-server.removed') return;
  if (event.inFile === 'disconnected') disconnected.add(event.name);
  if (event.inFile === 'connected') disconnected.delete(event.name);
}

/** Folds the events of version 0.1.0, which hold the configurations in clear. */
export function foldClearServers(
  envelopes: readonly Envelope<LoggedEvent>[],
): Readonly<Record<string, McpServerConfig>> {
  const configs = new Map<string, McpServerConfig>();
  for (const { event } of envelopes) {
    if (event.type === 'mcp-server.added') configs.set(event.name, event.config);
    else if (event.type === 'mcp-server.removed') configs.delete(event.name);
    else throw unexpected(CLEAR_SERVERS_STREAM, event);
  }
  return Object.fromEntries(configs);
}

function unexpected(stream: string, { type }: LoggedEvent): Error {
  return new Error(`the stream ${stream} has an event ${type}`);
}
