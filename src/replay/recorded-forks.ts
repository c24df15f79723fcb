import type { SessionEvent, SessionEventOf } from '../core/log/events.ts';

/**
 * The forks in a recording: the id of the original session, by the number of events that were copied from it. A fork
 * may have copied only some of the events that one input caused.
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

/** The fork whose closing events end at this index, as far as the recording has them. */
function forkEndingAt(events: readonly SessionEvent[], index: number): Fork | undefined {
  const event = events[index];
  if (event?.type === 'session.forked') return event;
  // A fork of a fork may have copied only the beginning of the events with which the first fork closed its turns.
  if (event?.type !== 'turn.cancelled' || event.cause.kind !== 'session-forked') return undefined;
  const { from } = event.cause;
  return { from, at: events.slice(0, index).findLastIndex((earlier) => !isOfClosing(earlier, from)) + 1 };
}

function isOfClosing(event: SessionEvent, from: string): boolean {
  switch (event.type) {
    case 'turn.cancelled':
      return event.cause.kind === 'session-forked' && event.cause.from === from;
    case 'tool-call.interrupted':
    case 'tool-call.failed':
      return event.cause.kind === 'turn-cancelled';
    default:
      return false;
  }
}
