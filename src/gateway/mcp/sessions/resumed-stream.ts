import type { SessionId } from '../../../core/ids.ts';
import type { SecretBox } from '../../../ports/secret-box.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import type { ServedRequest } from '../../http/http-message.ts';
import { holdSession } from '../../security/held-session.ts';
import { sessionNotFound, webRequest } from '../mcp-exchange.ts';
import { openChat } from '../resume/chat-stream.ts';
import { decodeEventId } from '../resume/event-id.ts';
import { eventsNotKept, noEventId, primed, primingEvent } from '../resume/resumption.ts';
import type { LogReader } from '../resume/told-from-log.ts';
import { inUse, type McpSession, type Received } from './mcp-session.ts';

interface Resumption extends Received {
  readonly lastEventId: string;
  /** Undefined if the request names none, or one that is not there. */
  readonly session: McpSession | undefined;
  /** Whether the client names a session that is not there. It may be from before a restart. */
  readonly isGone: boolean;
}

/** The client has lost a stream. What it has missed is kept in memory for a while, or is in the log. */
export async function resumedStream(
  deps: LogReader & { readonly secrets: SecretBox },
  { request, body, lastEventId, session, isGone }: Resumption,
): Promise<HttpResponse> {
  const { context, headers } = request;
  const eventId = decodeEventId(lastEventId);
  if (!eventId) return noEventId();
  const sessionIds = session?.transport.events.sessionsOf(eventId);
  if (session && sessionIds) {
    if (request.credential) holdAll(deps, sessionIds, request);
    const priming = primingEvent(lastEventId, headers.get('mcp-protocol-version'));
    return inUse(session, { request, body }, async () =>
      primed(await session.transport.handleRequest(webRequest(request, body.text)), priming),
    );
  }
  const chat = await openChat(deps.secrets, eventId.stream, context);
  if (!chat) return isGone ? sessionNotFound() : eventsNotKept();
  // The service may not have noticed yet that the client has lost the stream.
  if (session?.transport.events.turnOf(chat.requestId) === chat.turnId)
    session?.transport.closeSSEStream(chat.requestId);
  const { toldFromLog } = await import('../resume/told-from-log.ts');
  return toldFromLog(deps, request, chat, eventId);
}

/** Throws if the client may not read one of the sessions any more. The stream ends when that happens later. */
function holdAll({ bus }: LogReader, sessionIds: readonly SessionId[], request: ServedRequest): void {
  for (const sessionId of sessionIds) {
    bus.topicOf(sessionId, request.context);
    holdSession(bus, sessionId, request);
  }
}
