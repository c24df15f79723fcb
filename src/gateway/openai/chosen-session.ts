import { z } from 'zod';
import { SessionId } from '../../core/ids.ts';
import { type NewSessionAsker, newSessionId } from '../requests/new-session-id.ts';
import { parseFields } from '../requests/request-fields.ts';

/** Names the session of a request, and of its answer. */
export const SESSION_HEADER = 'X-Session-Id';

export interface ChosenSession {
  readonly sessionId: SessionId;
  /** Whether the client has named it, so that it can come back to it. */
  readonly isNamed: boolean;
}

export const SessionHeader = z.object({ [SESSION_HEADER]: SessionId });
const InMetadata = z.object({ metadata: z.object({ session_id: SessionId }) });

/** The session that the client names, or a new one. */
export async function chosenSession(
  asker: NewSessionAsker,
  metadata: Readonly<Record<string, string>> = {},
): Promise<ChosenSession> {
  const inHeader = asker.headers.get(SESSION_HEADER.toLowerCase());
  if (inHeader !== undefined)
    return {
      sessionId: parseFields(SessionHeader, { [SESSION_HEADER]: inHeader })[SESSION_HEADER],
      isNamed: true,
    };
  const { session_id } = metadata;
  if (session_id !== undefined)
    return { sessionId: parseFields(InMetadata, { metadata }).metadata.session_id, isNamed: true };
  return { sessionId: await newSessionId(asker, 'chat'), isNamed: false };
}
