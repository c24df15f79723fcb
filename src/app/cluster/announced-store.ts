import { API_KEYS_STREAM, GRANTS_STREAM, SERVERS_STREAM, type StreamId } from '../../core/log/streams.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Cluster } from '../../runtime/cluster/cluster.ts';

const FOLLOWED = [API_KEYS_STREAM, GRANTS_STREAM, SERVERS_STREAM];

/** The same log. An append to a stream that all nodes keep in memory waits until they have read it. */
export function announcedStore(store: EventStore, cluster: Cluster): EventStore {
  return {
    async append(streamId, ...append) {
      const appended = await store.append(streamId, ...append);
      // Whoever is told that a key is revoked may count on it at every node.
      if (isFollowed(streamId)) await cluster.changed(streamId);
      return appended;
    },
    read: (...range) => store.read(...range),
    sessions: (filter) => store.sessions(filter),
    streamIds: (...range) => store.streamIds(...range),
    fork: (...fork) => store.fork(...fork),
    adopt: (...adoption) => store.adopt(...adoption),
    erase: (...streamIds) => store.erase(...streamIds),
    size: () => store.size(),
    probe: () => store.probe(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/** The streams of agents have a prefix. */
function isFollowed(streamId: StreamId): boolean {
  return FOLLOWED.some((stream) => streamId.endsWith(stream));
}
