import { eventsIn, recordedTurn } from '../../turns/recorded-turn.ts';
import type { AcceptedChat, AskedChat } from './chat-turn.ts';
import { type ChatUsage, CountedTokens } from './counted-tokens.ts';

/** What only the log knows of an answer whose turn was over before it was asked for. */
export interface RecordedAnswer {
  /** When the turn began, in milliseconds since 1970. */
  readonly time: number;
  readonly usage: ChatUsage | null;
}

/**
 * A request that is repeated with its key hears nothing of the steps of a turn that is over. Null for all others, and if
 * the log has the turn no more.
 */
export async function recordedAnswer(
  { bus, context, key }: AskedChat,
  place: AcceptedChat,
  heard: CountedTokens,
): Promise<RecordedAnswer | null> {
  if (!key || heard.usage) return null;
  const turn = await recordedTurn(bus, place, context);
  if (!turn) return null;
  const tokens = new CountedTokens();
  for (const event of eventsIn(turn.since, place.turnId))
    if (event.type === 'step.completed') tokens.add(event);
  return { time: turn.since[0]?.time ?? 0, usage: tokens.usage };
}
