import type { SessionId, TurnId } from '../../core/ids.ts';
import type { SessionEvent } from '../../core/log/events.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { outcomeOf } from '../../core/session/session-state.ts';
import type { TurnOptions } from '../../core/turn/turn-options.ts';
import type { Bus } from '../../ports/bus.ts';

/** The turn of a session that has started last. */
export interface NewestTurn {
  readonly turnId: TurnId;
  /** Its events, oldest first. */
  readonly events: readonly SessionEvent[];
  /** Seq of the last event of the session that was looked at. */
  readonly head: number;
  readonly isOver: boolean;
  /** What the client wants for it. */
  readonly options: TurnOptions | undefined;
}

const PAGE_EVENTS = 200;

/** Null if no turn has started in the session. */
export async function newestTurn(
  bus: Bus,
  sessionId: SessionId,
  context: RequestContext,
): Promise<NewestTurn | null> {
  const { head } = await bus.send('session.position', { sessionId }, context);
  const later: SessionEvent[] = [];
  let started: TurnId | undefined;
  for (let end = head; end > 0; ) {
    const afterSeq = Math.max(0, end - PAGE_EVENTS);
    const page = await bus.send('session.events', { sessionId, afterSeq, limit: end - afterSeq }, context);
    for (const { event } of page.toReversed()) {
      later.push(event);
      if (event.type === 'turn.started') started ??= event.turnId;
      if (event.type !== 'turn.requested' || event.turnId !== started) continue;
      const { turnId, options } = event;
      const events = later.toReversed().filter((one) => 'turnId' in one && one.turnId === turnId);
      const isOver = events.some((one) => outcomeOf(one) !== undefined);
      return { turnId, events, head, isOver, options };
    }
    end = afterSeq;
  }
  return null;
}

/** The events of the turn after a seq. */
export async function eventsOfTurn(
  bus: Bus,
  {
    sessionId,
    turnId,
    after,
  }: { readonly sessionId: SessionId; readonly turnId: TurnId; readonly after: number },
  context: RequestContext,
): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for (let afterSeq = after; ; afterSeq += PAGE_EVENTS) {
    const page = await bus.send('session.events', { sessionId, afterSeq, limit: PAGE_EVENTS }, context);
    for (const { event } of page) if ('turnId' in event && event.turnId === turnId) events.push(event);
    if (page.length < PAGE_EVENTS) return events;
  }
}
