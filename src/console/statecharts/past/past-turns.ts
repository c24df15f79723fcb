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

/** The turn that began last. Reads only the events of that turn. */
export function lastTurnIn(events: readonly TimedEvent[]): PastTurn | undefined {
  const turnId = events.findLast(({ event }) => event === 'thinking')?.turnId;
  const own = events.filter((event) => event.turnId === turnId);
  return turnOf(turnId, own)[0];
}

/** Id of the turn that runs; turns that wait do not count. A session runs its turns one after the other. */
export function runningTurn(events: readonly TimedEvent[]): string | undefined {
  const turnId = events.findLast(({ event }) => event === 'thinking')?.turnId;
  const isOver = events.some(
    (event) => event.turnId === turnId && (event.event === 'response' || event.event === 'error'),
  );
  return isOver ? undefined : turnId;
}

function turnOf(turnId: string | undefined, events: readonly TimedEvent[]): PastTurn[] {
  const [first] = events;
  const hasBegun = events.some(({ event }) => event === 'thinking');
  if (turnId === undefined || first?.event !== 'message' || !hasBegun) return [];
  return [{ turnId, message: first.data.content, requestedAt: first.time, events }];
}
