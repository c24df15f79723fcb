import { afterLeaving } from '../../../core/request/request-context.ts';
import type { AcceptedChat, AskedChat } from './chat-turn.ts';

/**
 * The client has gone away before the end of its turn. That cancels the turn, unless the client can come back: it has named
 * the session, or has sent an idempotency key.
 */
export function leaveChat(
  { bus, context, session, key }: AskedChat,
  { sessionId, turnId }: AcceptedChat,
): void {
  if (session.isNamed || key) return;
  const cancel = { sessionId, turnId, reason: 'the client went away' };
  // The turn may have ended meanwhile, and nobody is left to be told.
  bus.send('turn.cancel', cancel, afterLeaving(context)).catch(() => undefined);
}
