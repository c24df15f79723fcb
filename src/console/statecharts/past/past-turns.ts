import type { TimedEvent } from '../../service/timed-event.ts';

export interface PastTurn {
  readonly turnId: string;
  readonly message: string;
  readonly requestedAt: string;
  /** All events of the turn, in order. */
  readonly events: readonly TimedEvent[];
}

/** The turns that have begun and whose message is loaded, the newest first. */
export function turnsIn(events: readonly TimedEvent[]): PastTurn[] {
  const ofTurns = Map.groupBy(events, ({ turnId }) => turnId);
  return [...ofTurns].flatMap(([turnId, own]) => turnOf(turnId, own)).toReversed();
}

function turnOf(turnId: string | undefined, events: readonly TimedEvent[]): PastTurn[] {
  const [first] = events;
  const hasBegun = events.some(({ event }) => event === 'thinking');
  if (turnId === undefined || first?.event !== 'message' || !hasBegun) return [];
  return [{ turnId, message: first.data.content, requestedAt: first.time, events }];
}
