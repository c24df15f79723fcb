import { ServiceError } from '../../../core/errors.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import { jsonResponse, type ServedRequest } from '../../http/http-message.ts';
import { keyOfRequest } from '../../http/idempotency-header.ts';
import { largeJsonResponse } from '../../http/large-json.ts';
import { readJsonObject } from '../../http/request-body.ts';
import { parseQuery } from '../../http/request-query.ts';
import { checkBodySize } from '../../requests/message-size.ts';
import { parseForeign } from '../../requests/request-fields.ts';
import { imagesLength } from '../responses/input-images.ts';
import { ItemsQuery, itemPage } from '../responses/item-page.ts';
import {
  extensionItems,
  newestItems,
  type SessionItem,
  type SessionItemList,
} from '../responses/session-items.ts';
import type { ResponsesDeps } from '../responses/whole-response.ts';
import { NewItems } from './conversation-request.ts';
import { knownConversation } from './conversations.ts';
import { givenMessages } from './given-items.ts';

export async function listItems(
  deps: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<HttpResponse> {
  const query = parseQuery(ItemsQuery, request);
  const newest = await itemsOf(deps, request, id);
  const items = query.order === 'desc' ? newest : await oldestFirst(newest);
  return largeJsonResponse<SessionItemList>(await itemPage(items, query), request);
}

/** Adds items to a conversation in which nothing runs. Nobody is asked for a reply. */
export async function createItems(
  deps: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<HttpResponse> {
  const { bus, maxImageBytes } = deps;
  const { context } = request;
  const body = parseForeign(NewItems, await readJsonObject(request));
  await checkBodySize(request, maxImageBytes, () => imagesLength({ input: body.items }));
  const sessionId = await knownConversation(deps, request, id);
  const given = await givenMessages(deps, request, body.items, sessionId);
  const key = await keyOfRequest(request, body);
  const { seq } = await bus.send('session.extend', { sessionId, given, key }, context);
  const [added] = await bus.send('session.events', { sessionId, afterSeq: seq - 1, limit: 1 }, context);
  const items = added?.event.type === 'session.extended' ? extensionItems(added, added.event) : [];
  return jsonResponse<SessionItemList>(
    await itemPage(items, { limit: items.length, maxCharacters: Infinity }),
  );
}

export async function retrieveItem(
  deps: ResponsesDeps,
  request: ServedRequest,
  { conversation, item }: ItemPlace,
): Promise<HttpResponse> {
  return jsonResponse<SessionItem>(await knownItem(deps, request, { conversation, item }));
}

/** Always refused: events are not taken out of the middle of a conversation. */
export async function deleteItem(
  deps: ResponsesDeps,
  request: ServedRequest,
  { conversation, item }: ItemPlace,
): Promise<HttpResponse> {
  await knownItem(deps, request, { conversation, item });
  const { agentPath = '' } = request.context;
  throw new ServiceError('INVALID_REQUEST', 'An item cannot be deleted alone.', {
    field: 'item_id',
    issue: 'events are erased only with their whole session',
    suggestion: `DELETE ${agentPath}/v1/conversations/${conversation} deletes the conversation.`,
  });
}

async function oldestFirst(newest: AsyncIterable<SessionItem>): Promise<SessionItem[]> {
  const items: SessionItem[] = [];
  for await (const item of newest) items.push(item);
  return items.reverse();
}

interface ItemPlace {
  readonly conversation: string;
  readonly item: string;
}

async function knownItem(
  deps: ResponsesDeps,
  request: ServedRequest,
  { conversation, item: id }: ItemPlace,
): Promise<SessionItem> {
  for await (const item of await itemsOf(deps, request, conversation)) if (item.id === id) return item;
  throw new ServiceError('SESSION_NOT_FOUND', `There is no item ${id} in the conversation.`, {
    field: 'item_id',
  });
}

async function itemsOf(
  deps: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<AsyncGenerator<SessionItem>> {
  const sessionId = await knownConversation(deps, request, id);
  const { context } = request;
  return newestItems(deps.bus, { agentId: context.agent, sessionId }, context);
}
