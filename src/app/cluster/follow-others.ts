import {
  API_KEYS_STREAM,
  GRANTS_STREAM,
  SERVER_CREDENTIAL_STREAMS,
  SERVERS_STREAM,
  type StreamId,
} from '../../core/log/streams.ts';
import type { Logger } from '../../ports/logger.ts';
import type { GrantBook } from '../../runtime/access/grant-book.ts';
import type { KeyBook } from '../../runtime/access/key-book.ts';
import type { Cluster } from '../../runtime/cluster/cluster.ts';
import type { McpSupervisor } from '../../runtime/tools/mcp-supervisor.ts';

interface Followed {
  readonly supervisor: McpSupervisor;
  readonly grants: GrantBook | undefined;
  readonly keys: KeyBook | undefined;
  readonly log: Logger;
}

/** What other nodes record about the service counts here, too. @returns what reads all of it now. */
export function followOthers(
  cluster: Cluster,
  prefix: string,
  { supervisor, grants, keys, log }: Followed,
): () => Promise<void> {
  const followed = new Map<StreamId, () => Promise<unknown>>([
    [prefix + SERVERS_STREAM, () => supervisor.follow()],
  ]);
  if (grants) followed.set(prefix + GRANTS_STREAM, () => grants.catchUp());
  // All agents have the same keys.
  if (keys) followed.set(API_KEYS_STREAM, () => keys.catchUp());
  const credentials = prefix + SERVER_CREDENTIAL_STREAMS;
  cluster.onChanged(async (changed) => {
    // Nobody waits for it: authorization servers and tool servers are asked.
    if (changed === null || changed.startsWith(credentials))
      supervisor
        .followAuthorizations()
        .catch((err: unknown) =>
          log.warn({ err }, 'the authorizations that other nodes were given could not be read'),
        );
    for (const [stream, catchUp] of followed) {
      if (changed !== null && changed !== stream) continue;
      await catchUp().catch((err: unknown) =>
        log.warn({ stream, err }, 'what other nodes recorded could not be read'),
      );
    }
  });
  return async () => void (await Promise.all([...followed.values()].map((catchUp) => catchUp())));
}
