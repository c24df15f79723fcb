/*
 * The streams of the log that are no sessions. Their ids begin with a character that no client's id can hold,
 * and that comes after all those it can: in a list they stand behind the sessions. None is ever marked open.
 */

const OWN = '~';

/** Holds the facts of the service itself. */
export const SERVICE_STREAM = `${OWN}service`;

/** Each request that was sent with an idempotency key has a stream of its own, whose id begins so. */
export const REQUEST_STREAMS = `${OWN}request:`;

export function isSession(streamId: string): boolean {
  return !streamId.startsWith(OWN);
}
