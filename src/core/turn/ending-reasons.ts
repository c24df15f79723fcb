import { counted } from '../counted.ts';
/*
 * Sentences that tell people and the model why a turn or a call ended. Programs read the event's `cause` instead.
 */

export const INTERRUPTED = 'another message interrupted it';
export const CANCELLED_BY_CLIENT = 'the client cancelled it';
export const TURN_CANCELLED = 'the turn was cancelled';
export const TURN_FAILED = 'the turn failed';
export const SERVICE_STOPPED = 'the service stopped while it ran';
export const RESET = 'the conversation was reset';
export const DELETED = 'the session was deleted';
export const REPAIRED = 'the log was damaged, and the rest of this turn is lost';

export function forkedFrom(sessionId: string): string {
  return `this session was forked from ${sessionId}`;
}

export function denied(note: string | undefined): string {
  return note === undefined ? 'it was denied' : `it was denied: ${note}`;
}

/** @param afterMs how long the call waited. */
export function expired(afterMs: number): string {
  return `nobody approved it within ${duration(afterMs)}`;
}

/** @param afterMs how long the call waited for the client that lent the tool. */
export function unanswered(afterMs: number): string {
  return `the client did not answer it within ${duration(afterMs)}`;
}

/** In the largest unit that needs no fraction, such as `90 seconds`. */
function duration(ms: number): string {
  const [name, size] = units.find(([, unitMs]) => ms % unitMs === 0) ?? ['millisecond', 1];
  return counted(ms / size, name);
}

const units: readonly (readonly [name: string, ms: number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];

/** For a call that still waited for approval when its turn ended. */
export function unapproved(reason: string): string {
  return `${reason} before the call was approved`;
}
