import { ServiceError } from '../../../core/errors.ts';
import { SessionId } from '../../../core/ids.ts';
import { type NewSessionAsker, newSessionId } from '../../requests/new-session-id.ts';

const PREFIX = 'conv';
const MADE_HERE = /(?:^|\/)conv-[0-9a-f-]{32,}$/;

/** The id of a session for a new conversation. */
export function newConversationId(asker: NewSessionAsker): Promise<SessionId> {
  return newSessionId(asker, PREFIX);
}

/** Whether the session was made by `POST /v1/conversations`. Where it is missing, it was deleted, or is one of another agent. */
export function isConversationId(id: SessionId): boolean {
  return MADE_HERE.test(id);
}

/** Throws `SESSION_NOT_FOUND` if no session can have the id. */
export function conversationId(id: string): SessionId {
  const parsed = SessionId.safeParse(id);
  if (!parsed.success) throw noConversation(id, 'conversation_id');
  return parsed.data;
}

export function noConversation(id: string, field: string): ServiceError {
  return new ServiceError('SESSION_NOT_FOUND', `There is no conversation ${id}.`, {
    field,
    suggestion: 'A conversation belongs to the agent under whose address it was created.',
  });
}
