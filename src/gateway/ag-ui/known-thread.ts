import { readEvents } from '../turns/read-events.ts';
import type { RecordedTurn } from '../turns/recorded-turn.ts';
import type { ThreadMessage } from './ag-ui-events.ts';
import type { AskedRun } from './asked-run.ts';
import { isMessageOf } from './message-ids.ts';
import type { AgUiTurnPlace } from './recorded-state.ts';
import type { RunInput } from './run-input.ts';
import { ThreadMessages } from './thread-messages.ts';

type Thread = readonly ThreadMessage[];

/**
 * The messages of the thread up to where a run begins, if the page has a part of what the run tells: it adds what it is told
 * to what it has, and would have that part twice.
 * @returns undefined if the page has nothing of it.
 */
export async function knownThread(
  { bus, context, sessionId, input }: AskedRun,
  turn: RecordedTurn,
  place: AgUiTurnPlace,
): Promise<Thread | undefined> {
  if (!isPartlyTold(input, turn, place)) return undefined;
  const thread = new ThreadMessages();
  const range = { sessionId, after: 0, until: place.afterSeq };
  for await (const envelope of readEvents(bus, range, context)) thread.take(envelope);
  return [...thread.all, ...ownResults(input, place, thread.all)];
}

/** Reasoning does not count: the log may not have it, and a run goes on with what the page has of it. */
function isPartlyTold(
  { messages }: RunInput,
  { since }: RecordedTurn,
  { turn, afterSeq }: AgUiTurnPlace,
): boolean {
  const { turnId } = turn;
  const before = new ThreadMessages();
  for (const envelope of since) {
    const { event, seq } = envelope;
    if (seq <= afterSeq && 'turnId' in event && event.turnId === turnId) before.take(envelope);
  }
  const ids = new Set(before.all.map(({ id }) => id));
  return messages.some(
    ({ id, role }) => (role === 'assistant' || role === 'tool') && isMessageOf(turnId, id) && !ids.has(id),
  );
}

/** What the page says its own tools have answered since. A run does not tell that. */
function ownResults({ messages }: RunInput, { turn }: AgUiTurnPlace, thread: Thread): Thread {
  const known = new Set(thread.flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : [])));
  return messages.flatMap((one) =>
    one.role === 'tool' && turn.isOfClient(one.toolCallId) && !known.has(one.toolCallId) ? [one] : [],
  );
}
