import { type EventMetadata, metadataOf, type Origin } from './event-metadata.ts';
import type { LoggedEvent } from './events.ts';

/** An event and its metadata, which is null if the event was written in format 1 or 2. */
export interface RecordedEvent<E extends LoggedEvent = LoggedEvent> {
  readonly event: E;
  readonly meta: EventMetadata | null;
}

/** Adds metadata to new events. Only tests leave the origin out; their events have no metadata. */
export function record<E extends LoggedEvent>(
  events: readonly E[],
  origin: Origin | undefined,
): RecordedEvent<E>[] {
  return events.map((event) => ({ event, meta: origin ? metadataOf(event, origin) : null }));
}
