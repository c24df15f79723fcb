import { contentHash } from '../../core/content-hash.ts';
import { REQUEST_STREAMS, type StreamId } from '../../core/log/streams.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import { evolveRequest, type RequestState } from '../../core/request/request-state.ts';
import type { EventStore } from '../../ports/event-store.ts';

/** What the log says of a request with an idempotency key. */
export interface RequestRecord {
  /** Undefined if the log has nothing, or nothing that counts. */
  readonly state: RequestState | undefined;
  /** seq of the last event. */
  readonly head: number;
}

/** The keys have any length and alphabet, so they are hashed. */
export async function requestStream(scope: readonly string[], { id }: IdempotencyKey): Promise<StreamId> {
  return `${REQUEST_STREAMS}${await contentHash([...scope, id])}`;
}

export async function readRequest(store: EventStore, stream: StreamId): Promise<RequestRecord> {
  const envelopes = await store.read(stream, 0);
  const state = envelopes.reduce<RequestState | undefined>(
    (before, { event }) => evolveRequest(before, event),
    undefined,
  );
  return { state, head: envelopes.at(-1)?.seq ?? 0 };
}
