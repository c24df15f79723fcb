import type { SessionId } from '../core/ids.ts';

/**
 * Decides which process owns a session. Only the owner keeps the session in memory and appends to its stream.
 * A service of one process owns every session.
 */
export interface SessionDirectory {
  /**
   * Makes this process the owner. Null if it is the owner at once. Rejects with a `SessionElsewhereError` while another
   * process is.
   */
  claim(sessionId: SessionId): Promise<void> | null;
  /** The log probably has no such session. Its first append makes this process the owner, or is refused. */
  presumeNew(sessionId: SessionId): void;
  /** The session has left memory. */
  release(sessionId: SessionId): void;
}

/** For a service of one process. */
export const oneProcess: SessionDirectory = {
  claim: () => null,
  presumeNew: () => undefined,
  release: () => undefined,
};
