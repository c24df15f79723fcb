import {
  API_KEYS_STREAM,
  GRANTS_STREAM,
  SERVER_CREDENTIAL_STREAMS,
  SERVERS_STREAM,
  type StreamId,
} from '../../core/log/streams.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Cluster } from '../../runtime/cluster/cluster.ts';
import { forwardingStore } from '../forwarding-store.ts';

const FOLLOWED = [API_KEYS_STREAM, GRANTS_STREAM, SERVERS_STREAM];

/** The same log, which announces to the other nodes what was appended to a stream that all of them keep in memory. */
export function announcedStore(store: EventStore, cluster: Cluster): EventStore {
  return {
    ...forwardingStore(store),
    announce: async (streamId) => {
      if (isFollowed(streamId)) await cluster.changed(streamId);
    },
  };
}

/** The streams of agents have a prefix. No id of a session has the character that those of the service begin with. */
function isFollowed(streamId: StreamId): boolean {
  return FOLLOWED.some((stream) => streamId.endsWith(stream)) || streamId.includes(SERVER_CREDENTIAL_STREAMS);
}
