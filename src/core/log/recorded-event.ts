import { type EventMetadata, metadataOf, type Origin } from './event-metadata.ts';
import type { LoggedEvent } from './events.ts';

/** An event and its metadata; null where the log was written before there were any. */
export interface RecordedEvent<E extends LoggedEvent = LoggedEvent> {
  readonly event: E;
  readonly meta: EventMetadata | null;
}

/** New events of one origin. Without an origin they have no metadata: that is for tests. */
export function record<E extends LoggedEvent>(
  events: readonly E[],
  origin: Origin | undefined,
): RecordedEvent<E>[] {
  return events.map((event) => ({ event, meta: origin ? metadataOf(event, origin) : null }));
}
