import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';

const PAGE_EVENTS = 200;
/** Whoever reads backwards as a rule finds near the end what is wanted. */
const NEWEST_EVENTS = 50;

export interface EventRange {
  readonly sessionId: SessionId;
  readonly after: number;
  /** Seq of the last one. Left out: all that there are. */
  readonly until?: number;
}

/** The events of a session in order, read page by page. */
export async function* readEvents(
  bus: Bus,
  { sessionId, after, until = Infinity }: EventRange,
  context: RequestContext,
): AsyncGenerator<Envelope, void, void> {
  for (let afterSeq = after; afterSeq < until; ) {
    const limit = Math.min(PAGE_EVENTS, until - afterSeq);
    const page = await bus.send('session.events', { sessionId, afterSeq, limit }, context);
    const last = page.at(-1);
    if (!last) return;
    yield* page;
    afterSeq = last.seq;
  }
}

/** The events of a session from the event `head` back to the first one, read page by page. */
export async function* newestEvents(
  bus: Bus,
  { sessionId, head }: { readonly sessionId: SessionId; readonly head: number },
  context: RequestContext,
): AsyncGenerator<Envelope, void, void> {
  for (let until = head; until > 0; until = Math.max(0, until - NEWEST_EVENTS)) {
    const after = Math.max(0, until - NEWEST_EVENTS);
    const page = await Array.fromAsync(readEvents(bus, { sessionId, after, until }, context));
    yield* page.toReversed();
  }
}
