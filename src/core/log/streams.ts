/*
 * The streams of the log that are no sessions. Their ids begin with a character that no client's id can hold,
 * and that comes after all those it can: in a list they stand behind the sessions. None is ever marked open.
 */

/** Names a stream of events: a session, or one of the service's own. */
export type StreamId = string;

const OWN = '~';

/** Which tool servers were connected at run time. Their configurations stand elsewhere, sealed. */
export const SERVERS_STREAM: StreamId = `${OWN}servers`;

/** The configuration of each of them has a stream of its own, whose id begins so: erased, it is gone. */
export const SERVER_SECRET_STREAMS = `${OWN}server-secret:`;

/** Where version 0.1.0 kept the same, with its secrets in clear. The first start takes it over and erases it. */
export const CLEAR_SERVERS_STREAM = `${OWN}service`;

/** Each request that was sent with an idempotency key has a stream of its own, whose id begins so. */
export const REQUEST_STREAMS = `${OWN}request:`;

export function isSession(streamId: StreamId): boolean {
  return !streamId.startsWith(OWN);
}
