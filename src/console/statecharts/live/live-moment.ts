import type { Move } from '../chart/active-states.ts';
import type { PastTurn } from '../past/past-turns.ts';
import { replayTurn } from '../past/turn-replay.ts';
import type { RecordedMove } from './machine-history.ts';

/** Where a machine is now or, when it has ended, where it was at last. */
export interface LiveMoment extends Move {
  readonly context: Readonly<Record<string, unknown>> | null;
  readonly isOver: boolean;
  /** ISO 8601 UTC. */
  readonly time: string;
  /** Absent for a tool server. */
  readonly turnId?: string | undefined;
}

export function momentOfMachine({ before, event, after, state }: RecordedMove): LiveMoment {
  const { context, status, time } = state;
  const turnId = typeof context.turnId === 'string' ? context.turnId : undefined;
  return { before, event, after, context, isOver: status !== 'active', time, turnId };
}

/** The last moment of a turn in the log. Null before its machine began. */
export function lastMomentOf({ turnId, events, requestedAt }: PastTurn): LiveMoment | null {
  const frame = replayTurn(turnId, events).at(-1);
  const { before, event, after, context } = frame ?? { after: null };
  if (!frame || after === null) return null;
  const isOver = events.some((one) => one.event === 'response' || one.event === 'error');
  return {
    before: before ?? null,
    event: event ?? null,
    after,
    context: context ? { ...context } : null,
    isOver,
    time: events.at(-1)?.time ?? requestedAt,
    turnId,
  };
}
