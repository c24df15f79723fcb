import type { SessionId } from '../core/ids.ts';

/**
 * Decides which process owns a session. Only the owner keeps the session in memory and appends to its stream.
 * A service of one process owns every session.
 */
export interface SessionDirectory {
  /**
   * Makes this process the owner. Null if it is the owner at once. Rejects with `SERVICE_UNAVAILABLE` while
   * another process is.
   */
  claim(sessionId: SessionId): Promise<void> | null;
  /** Gives up ownership, after the session has left memory. */
  release(sessionId: SessionId): void;
}

/** For a service of one process. */
export const oneProcess: SessionDirectory = { claim: () => null, release: () => undefined };
