import type { SessionEvent, SessionEventOf } from '../core/log/events.ts';
import type { ForkSession, RepairSession } from '../core/session/session-commands.ts';

/** A fork or a repair: it ends the turns that are open after an event, wherever that event stands in its input. */
export type RecordedClosing = ForkSession | RepairSession;

/**
 * The forks and repairs in a recording, by the number of events that came before them. A fork may have copied, and a
 * repair may have kept, only some of the events that one input caused.
 */
export function recordedClosings(events: readonly SessionEvent[]): Map<number, RecordedClosing> {
  const closings = new Map<number, RecordedClosing>();
  let later = events.length;
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const found = closingEndingAt(events, index) ?? cutClosingEndingAt(events, index, later);
    if (!found || found.at > index || index >= later) continue;
    closings.set(found.at, found.closing);
    later = found.at;
  }
  return closings;
}

interface Found {
  readonly at: number;
  readonly closing: RecordedClosing;
}

/** The closing whose last event, as far as the recording has it, is at this index. */
function closingEndingAt(events: readonly SessionEvent[], index: number): Found | undefined {
  const event = events[index];
  if (event?.type === 'session.forked') {
    const { from, at, ephemeral } = event;
    return { at, closing: { type: 'session.fork', from, at, ephemeral } };
  }
  if (event?.type !== 'turn.cancelled') return undefined;
  const at = events.slice(0, index).findLastIndex((earlier) => !isOfSameClosing(earlier, event)) + 1;
  if (event.cause.kind === 'session-repaired') return { at, closing: { type: 'session.repair' } };
  // A fork of a fork may have copied only the beginning of the events with which the first fork closed its turns.
  if (event.cause.kind === 'session-forked')
    return { at, closing: { type: 'session.fork', from: event.cause.from, at } };
  return undefined;
}

/**
 * A fork may have copied only ends of calls from a closing, without the end of their turn. All closings begin with the
 * same ends of calls, so it does not matter which of them it was.
 * @param later where the next closing begins.
 */
function cutClosingEndingAt(
  events: readonly SessionEvent[],
  index: number,
  later: number,
): Found | undefined {
  const isCut = later === index + 1 && later < events.length;
  if (!isCut || !endsWithItsTurn(events[index])) return undefined;
  const at = events.slice(0, index).findLastIndex((earlier) => !endsWithItsTurn(earlier)) + 1;
  return { at, closing: { type: 'session.repair' } };
}

function isOfSameClosing(event: SessionEvent, { cause }: SessionEventOf<'turn.cancelled'>): boolean {
  if (event.type !== 'turn.cancelled') return endsWithItsTurn(event);
  return (
    event.cause.kind === cause.kind &&
    (event.cause.kind !== 'session-forked' ||
      (cause.kind === 'session-forked' && event.cause.from === cause.from))
  );
}

/** Whether it ends a call, or what its server had asked, because the turn was cancelled. */
function endsWithItsTurn(event: SessionEvent | undefined): boolean {
  switch (event?.type) {
    case 'input.answered':
    case 'tool-call.interrupted':
    case 'tool-call.failed':
      return event.cause.kind === 'turn-cancelled';
    default:
      return false;
  }
}
