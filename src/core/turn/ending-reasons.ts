/*
 * What the decider writes down as the reason of an ending. A replay reads there who brought it about.
 */

export const INTERRUPTED = 'another message interrupted it';
export const CANCELLED = 'the turn was cancelled';
export const RESET = 'the conversation was reset';
export const DELETED = 'the session was deleted';

const FORKED = 'this session was forked from ';

export function forkedFrom(sessionId: string): string {
  return FORKED + sessionId;
}

/** The session that such a reason names. */
export function forkNamedIn(reason: string): string | undefined {
  return reason.startsWith(FORKED) ? reason.slice(FORKED.length) : undefined;
}

const DENIED = 'it was denied';

export function denial(reason: string | undefined): string {
  return reason === undefined ? DENIED : `${DENIED}: ${reason}`;
}

/** What the approver gave as reason, if anything; undefined when the call failed otherwise. */
export function denialIn(text: string): { reason?: string } | undefined {
  if (text === DENIED) return {};
  return text.startsWith(`${DENIED}: `) ? { reason: text.slice(DENIED.length + 2) } : undefined;
}

const UNAPPROVED = ' before the call was approved';

/** Why a call failed that waited for approval when its turn ended. */
export function unapproved(reason: string): string {
  return reason + UNAPPROVED;
}
