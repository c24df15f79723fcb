import { z } from 'zod';
import type { Envelope } from '../../../core/log/envelope.ts';
import type { SessionEventOf } from '../../../core/log/events.ts';
import type { RequestContext } from '../../../core/request/request-context.ts';
import { outcomeOf } from '../../../core/session/session-state.ts';
import type { Bus } from '../../../ports/bus.ts';
import { newestEvents } from '../../turns/read-events.ts';
import type { RecordedTurn } from '../../turns/recorded-turn.ts';
import { BroughtItem, givenItems, inputItems } from './input-items.ts';
import { itemListOf } from './item-page.ts';
import { responsesOf } from './recorded-response.ts';
import type { ResponsePlace } from './response-id.ts';
import { OutputItem } from './response-items.ts';

/** What a conversation consists of: what clients brought, and what came of it. */
export const SessionItem = z.union([BroughtItem, OutputItem]);
export type SessionItem = z.infer<typeof SessionItem>;

export const SessionItemList = itemListOf(SessionItem);
export type SessionItemList = z.infer<typeof SessionItemList>;

type SessionPlace = Pick<ResponsePlace, 'agentId' | 'sessionId'>;

/** The items of a conversation since it was last cleared, newest first. The log is read as far as they are wanted. */
export async function* newestItems(
  bus: Bus,
  place: SessionPlace,
  context: RequestContext,
): AsyncGenerator<SessionItem, void, void> {
  const { head } = await bus.send('session.position', { sessionId: place.sessionId }, context);
  const ends = new Map<string, number>();
  const later: Envelope[] = [];
  for await (const envelope of newestEvents(bus, { ...place, head }, context)) {
    const { event, seq } = envelope;
    later.push(envelope);
    if (event.type === 'session.reset') return;
    if (event.type === 'session.extended') yield* extensionItems(envelope, event).toReversed();
    const ended = outcomeOf(event);
    if (ended) ends.set(ended.turnId, seq);
    if (event.type !== 'turn.requested') continue;
    const end = ends.get(event.turnId);
    // Later turns are told already.
    const since = later.slice(end === undefined ? 0 : head - end).toReversed();
    yield* turnItems({ requested: event, since, begin: seq, end, head }, place).toReversed();
  }
}

/** The items of an event. */
export function extensionItems(
  { meta, seq, sessionId }: Envelope,
  { given }: SessionEventOf<'session.extended'>,
): SessionItem[] {
  return givenItems(given, meta?.id ?? `${seq}`, sessionId);
}

/** None if the turn has not begun, or was cancelled before. */
function turnItems(turn: RecordedTurn, place: SessionPlace): SessionItem[] {
  const { turnId } = turn.requested;
  if (!turn.since.some(({ event }) => event.type === 'turn.started' && event.turnId === turnId)) return [];
  const { all } = responsesOf(turn, { ...place, turnId, firstStep: 1 });
  return all.flatMap(({ firstStep, response }) => [
    ...inputItems(turn, { ...place, turnId, firstStep }),
    ...response.output,
  ]);
}
