import type { SessionId, TurnId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { outcomeOf } from '../../core/session/session-state.ts';
import type { Bus } from '../../ports/bus.ts';

/** A turn as the log has it. */
export interface RecordedTurn {
  /** All events of the session from its `turn.requested` on, oldest first. */
  readonly since: readonly Envelope[];
  /** Seq of its `turn.requested`. */
  readonly begin: number;
  /** Seq of the event that ended it; undefined while it is not over. */
  readonly end: number | undefined;
  /** Seq of the last event of the session that was looked at. */
  readonly head: number;
  /** Whether a message could follow it: no other was sent since, and the conversation was not cleared. */
  readonly isNewest: boolean;
}

const PAGE_EVENTS = 200;

/** Null if the session has no such turn. */
export async function recordedTurn(
  bus: Bus,
  { sessionId, turnId }: { readonly sessionId: SessionId; readonly turnId: TurnId },
  context: RequestContext,
): Promise<RecordedTurn | null> {
  const { head } = await bus.send('session.position', { sessionId }, context);
  const pages: (readonly Envelope[])[] = [];
  for (let last = head; last > 0; ) {
    const afterSeq = Math.max(0, last - PAGE_EVENTS);
    const page = await bus.send('session.events', { sessionId, afterSeq, limit: last - afterSeq }, context);
    const index = page.findIndex(({ event }) => event.type === 'turn.requested' && event.turnId === turnId);
    pages.push(index === -1 ? page : page.slice(index));
    if (index !== -1) return asRecorded(turnId, pages.toReversed().flat(), head);
    last = afterSeq;
  }
  return null;
}

function asRecorded(turnId: TurnId, since: readonly Envelope[], head: number): RecordedTurn {
  const end = since.find(({ event }) => outcomeOf(event)?.turnId === turnId)?.seq;
  const later = since.slice(1);
  const isNewest = !later.some(
    ({ event }) => event.type === 'turn.requested' || event.type === 'session.reset',
  );
  return { since, begin: since[0]?.seq ?? 1, end, head, isNewest };
}
