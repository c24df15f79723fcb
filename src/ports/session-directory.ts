import type { SessionId } from '../core/ids.ts';

/**
 * Says which process owns a session. Only its owner keeps the session in memory and appends to its stream. With one
 * process that is always this one.
 */
export interface SessionDirectory {
  /** Makes this process the owner. Rejects with `SERVICE_UNAVAILABLE` while another one is. Null when it is at once. */
  claim(sessionId: SessionId): Promise<void> | null;
  /** The session has left memory: others may own it. */
  release(sessionId: SessionId): void;
}

/** For a service that is one process. */
export const oneProcess: SessionDirectory = { claim: () => null, release: () => undefined };
