import type { SessionEvent, SessionEventOf } from '../core/log/events.ts';
import { CANCELLED, forkNamedIn, unapproved } from '../core/turn/ending-reasons.ts';

/**
 * Where in a recording a session was forked from another: the other's name, by the number of events that were
 * taken over. What one cause made in the other session may be cut there.
 */
export function recordedForks(events: readonly SessionEvent[]): Map<number, string> {
  const forks = new Map<number, string>();
  let laterFork = events.length;
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const fork = forkEndingAt(events, index);
    if (!fork || fork.at > index || index >= laterFork) continue;
    forks.set(fork.at, fork.from);
    laterFork = fork.at;
  }
  return forks;
}

type Fork = Pick<SessionEventOf<'session.forked'>, 'from' | 'at'>;

/** The fork whose last known event this is. */
function forkEndingAt(events: readonly SessionEvent[], index: number): Fork | undefined {
  const event = events[index];
  if (event?.type === 'session.forked') return event;
  // A fork of a fork may have been made before the first one's closing ended.
  const from = event?.type === 'turn.cancelled' ? forkNamedIn(event.reason) : undefined;
  if (from === undefined) return undefined;
  return { from, at: events.slice(0, index).findLastIndex((earlier) => !isOfClosing(earlier, from)) + 1 };
}

function isOfClosing(event: SessionEvent, from: string): boolean {
  switch (event.type) {
    case 'turn.cancelled':
      return forkNamedIn(event.reason) === from;
    case 'tool-call.interrupted':
      return event.reason === CANCELLED;
    case 'tool-call.failed':
      return event.reason === unapproved(CANCELLED);
    default:
      return false;
  }
}
