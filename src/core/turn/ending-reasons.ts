/*
 * Sentences that tell people and the model why a turn or a call ended. Programs read the event's `cause` instead.
 */

export const INTERRUPTED = 'another message interrupted it';
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

/** For a call that still waited for approval when its turn ended. */
export function unapproved(reason: string): string {
  return `${reason} before the call was approved`;
}
