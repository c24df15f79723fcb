import type { SessionId } from '../../../core/ids.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import { jsonResponse, type ServedRequest } from '../../http/http-message.ts';
import { keyOfRequest } from '../../http/idempotency-header.ts';
import { readJsonObject } from '../../http/request-body.ts';
import { checkBodySize } from '../../requests/message-size.ts';
import { parseForeign } from '../../requests/request-fields.ts';
import { imagesLength } from '../responses/input-images.ts';
import { unixSeconds } from '../responses/response-object.ts';
import type { ResponsesDeps } from '../responses/whole-response.ts';
import { conversationId, newConversationId, noConversation } from './conversation-id.ts';
import {
  type Conversation,
  ConversationUpdate,
  type DeletedConversation,
  NewConversation,
} from './conversation-request.ts';
import { givenMessages } from './given-items.ts';

/* OpenAI's conversations: a conversation is a session. */

export async function createConversation(deps: ResponsesDeps, request: ServedRequest): Promise<HttpResponse> {
  const { bus, maxImageBytes } = deps;
  const { context } = request;
  const body = parseForeign(NewConversation, await readJsonObject(request, { optional: true }));
  const { metadata = {}, items = [] } = body;
  await checkBodySize(request, maxImageBytes, () => imagesLength({ input: items }));
  const sessionId = await newConversationId({ bus, context, headers: request.headers });
  const given = await givenMessages(deps, request, items);
  const key = await keyOfRequest(request, body);
  // Throws. Whoever may not read the conversation begins none.
  bus.topicOf(sessionId, context);
  await bus.send('session.describe', { sessionId, metadata, key }, context);
  if (given.length > 0) await bus.send('session.extend', { sessionId, given, key }, context);
  return shown(deps, request, sessionId);
}

export async function retrieveConversation(
  deps: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<HttpResponse> {
  return shown(deps, request, await knownConversation(deps, request, id));
}

export async function updateConversation(
  deps: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<HttpResponse> {
  const { metadata } = parseForeign(ConversationUpdate, await readJsonObject(request));
  const sessionId = await knownConversation(deps, request, id);
  await deps.bus.send('session.describe', { sessionId, metadata: metadata ?? {} }, request.context);
  return shown(deps, request, sessionId);
}

export async function deleteConversation(
  deps: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<HttpResponse> {
  const sessionId = await knownConversation(deps, request, id);
  await deps.bus.send('session.delete', { sessionId }, request.context);
  return jsonResponse<DeletedConversation>({ id, object: 'conversation.deleted', deleted: true });
}

/** Throws `SESSION_NOT_FOUND`. */
export async function knownConversation(
  { bus }: Pick<ResponsesDeps, 'bus'>,
  { context }: ServedRequest,
  id: string,
): Promise<SessionId> {
  const sessionId = conversationId(id);
  const { head } = await bus.send('session.position', { sessionId }, context);
  if (head === 0) throw noConversation(id, 'conversation_id');
  return sessionId;
}

async function shown(
  { bus }: ResponsesDeps,
  { context }: ServedRequest,
  sessionId: SessionId,
): Promise<HttpResponse> {
  const { createdAt, metadata = {} } = await bus.send('session.view', { sessionId }, context);
  return jsonResponse<Conversation>({
    id: sessionId,
    object: 'conversation',
    created_at: unixSeconds(Date.parse(createdAt)),
    metadata,
  });
}
