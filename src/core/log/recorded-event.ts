import { type EventMetadata, type Origin, SERVICE } from './event-metadata.ts';
import { type LoggedEvent, turnIdOf } from './events.ts';

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
  if (!origin) return events.map((event) => ({ event, meta: null }));
  const { actor, causationId } = origin;
  return events.map((event) => {
    const isNextTurn = event.type === 'turn.started' && !isRequestedIn(events, event.turnId);
    const meta: EventMetadata = {
      id: crypto.randomUUID(),
      actor: isNextTurn ? SERVICE : actor,
      causationId,
      correlationId: turnIdOf(event) ?? causationId,
    };
    return { event, meta };
  });
}

/** A turn that was not requested by the same command has waited: the service starts it, whoever ended the turn before. */
function isRequestedIn(events: readonly LoggedEvent[], turnId: string): boolean {
  return events.some((event) => event.type === 'turn.requested' && event.turnId === turnId);
}
