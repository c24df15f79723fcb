/*
 * The log has a stream of events for each session, and the streams below for the service itself. Their ids begin with
 * `~`, which no session id can contain, and which sorts after all characters of a session id: lists have the sessions
 * first. A stream of the service is never marked open.
 */

/** The id of a stream: the id of a session, or one of those below. */
export type StreamId = string;

const SERVICE_PREFIX = '~';

/** The tool servers that were connected at run time. Their configurations are encrypted, in streams of their own. */
export const SERVERS_STREAM: StreamId = `${SERVICE_PREFIX}servers`;

/** Prefix of the streams that hold one encrypted configuration each. Erasing such a stream erases the secrets in it. */
export const SERVER_SECRET_STREAMS = `${SERVICE_PREFIX}server-secret:`;

/**
 * Prefix of the streams that hold what authorization servers gave for a tool server, encrypted. Followed by the name of
 * the server, a slash and a number that grows; the last one counts.
 */
export const SERVER_CREDENTIAL_STREAMS = `${SERVICE_PREFIX}server-oauth:`;

/**
 * The stream in which version 0.1.0 kept the same, with the secrets in clear text. The first start of a later version
 * moves them to the streams above and erases this one.
 */
export const CLEAR_SERVERS_STREAM = `${SERVICE_PREFIX}service`;

/** The API keys: which were created and which were revoked. It has hashes of their secrets only. */
export const API_KEYS_STREAM: StreamId = `${SERVICE_PREFIX}api-keys`;

/** Prefix of the streams that say who did what. Followed by the day in UTC, `2026-11-23`. */
export const AUDIT_STREAMS = `${SERVICE_PREFIX}audit:`;

/** The stream of the day. @param time milliseconds since the epoch. */
export function auditStream(time: number): StreamId {
  return AUDIT_STREAMS + new Date(time).toISOString().slice(0, 10);
}

/** Which sessions are shared, with whom and for what. */
export const GRANTS_STREAM: StreamId = `${SERVICE_PREFIX}grants`;

/** All streams of push notifications begin with it. */
export const PUSH_PREFIX = `${SERVICE_PREFIX}push`;

/** Prefix of the streams of configs for push notifications. Followed by session, turn and config, each after a `~`. */
export const PUSH_STREAMS = `${PUSH_PREFIX}:`;

/** The private key that signs push notifications, encrypted. */
export const PUSH_KEY_STREAM: StreamId = `${PUSH_PREFIX}-key`;

/** Prefix of the streams of requests with an idempotency key. Each of these requests has one. */
export const REQUEST_STREAMS = `${SERVICE_PREFIX}request:`;

/** The agent whose streams have no prefix, of a service with several agents. */
export const AGENTS_STREAM: StreamId = `${SERVICE_PREFIX}agents`;

/**
 * Prefix of all streams of another agent: its sessions, and after them what the service keeps for it. Followed by the id
 * of the agent and a colon.
 */
export const AGENT_STREAMS = `${SERVICE_PREFIX}agent:`;

/** What the ids of the agent's streams begin with. */
export function agentPrefix(agentId: string): string {
  return `${AGENT_STREAMS}${agentId}:`;
}

/** Whether the stream is a session of any agent. */
export function holdsConversation(streamId: StreamId): boolean {
  if (!streamId.startsWith(AGENT_STREAMS)) return isSession(streamId);
  return isSession(streamId.slice(streamId.indexOf(':', AGENT_STREAMS.length) + 1));
}

/** Whether the stream is a session of the agent whose streams have no prefix. */
export function isSession(streamId: StreamId): boolean {
  return !streamId.startsWith(SERVICE_PREFIX);
}
