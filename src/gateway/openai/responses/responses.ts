import { ServiceError } from '../../../core/errors.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import { jsonResponse, type ServedRequest } from '../../http/http-message.ts';
import { keyOfRequest } from '../../http/idempotency-header.ts';
import { readJsonObject } from '../../http/request-body.ts';
import { parseQuery } from '../../http/request-query.ts';
import { recordedTurn } from '../../requests/recorded-turn.ts';
import { parseForeign } from '../../requests/request-fields.ts';
import { serverSentEvents } from '../../sse/server-sent-events.ts';
import { withModel } from '../chosen-agent.ts';
import { SESSION_HEADER } from '../chosen-session.ts';
import { type InputItemList, inputItems } from './input-items.ts';
import { readResponse } from './response-feed.ts';
import { noResponse, type ResponsePlace, responsePlace } from './response-id.ts';
import { type OpenAiResponse, ResponseNote } from './response-object.ts';
import { type DeletedResponse, ItemsQuery, ResponseRequest, RetrieveQuery } from './response-request.ts';
import {
  type AskedResponse,
  type BegunResponse,
  beginResponse,
  isUnstored,
  responsesOf,
} from './response-turn.ts';
import type { TurnResponses } from './turn-responses.ts';
import { forget, type ResponsesDeps, whole } from './whole-response.ts';

/*
 * OpenAI's Responses API. A session is a conversation, and a response is a turn in it; everything that it shows is read from
 * the log of the session.
 */

export async function createResponse(deps: ResponsesDeps, request: ServedRequest): Promise<HttpResponse> {
  const { bus, maxImageBytes } = deps;
  const body = parseForeign(ResponseRequest, await readJsonObject(request));
  const context = await withModel(bus, request, body.model);
  const key = await keyOfRequest(request, body);
  const asked: AskedResponse = { bus, context, request, body, agentId: body.model, key, maxImageBytes };
  const begun = await beginResponse(asked);
  if (body.stream) return streamed(deps, asked, begun);
  if (body.background) return shown(begun.place, await found(deps, context, begun.place, begun.place.turnId));
  return shown(begun.place, await whole(deps, asked, begun));
}

export async function retrieveResponse(
  deps: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<HttpResponse> {
  const { stream, starting_after: after = -1 } = parseQuery(RetrieveQuery, request);
  const place = responsePlace(id, 'response_id');
  const context = await withModel(deps.bus, request, place.agentId);
  const turn = await recordedTurn(deps.bus, place, context);
  const response = turn && responsesOf(turn, place).response;
  if (!turn || !response) throw noResponse(id, 'response_id');
  if (stream === 'false') return shown(place, response);
  return eventsOf({ ...deps, context }, request, { place, afterSeq: turn.begin - 1 }, { after });
}

/** Ends the turn. The response is what it has become by then. */
export async function cancelResponse(
  deps: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<HttpResponse> {
  const place = responsePlace(id, 'response_id');
  const context = await withModel(deps.bus, request, place.agentId);
  await found(deps, context, place, id);
  const { sessionId, turnId } = place;
  await deps.bus.send(
    'turn.cancel',
    { sessionId, turnId, reason: 'the client cancelled the response' },
    context,
  );
  return shown(place, await found(deps, context, place, id));
}

export async function listInputItems(
  deps: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<HttpResponse> {
  const query = parseQuery(ItemsQuery, request);
  const place = responsePlace(id, 'response_id');
  const context = await withModel(deps.bus, request, place.agentId);
  const turn = await recordedTurn(deps.bus, place, context);
  if (!turn || !responsesOf(turn, place).response) throw noResponse(id, 'response_id');
  return jsonResponse<InputItemList>(inputItems(turn, place, query));
}

/** Deletes the session that was made for the response. Events cannot be taken out of the middle of a conversation. */
export async function deleteResponse(
  deps: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<HttpResponse> {
  const place = responsePlace(id, 'response_id');
  const context = await withModel(deps.bus, request, place.agentId);
  const turn = await recordedTurn(deps.bus, place, context);
  const [requested] = turn?.since ?? [];
  if (!turn || requested?.event.type !== 'turn.requested' || !responsesOf(turn, place).response)
    throw noResponse(id, 'response_id');
  const { isAlone } = ResponseNote.parse(requested.event.options?.note ?? {});
  if (!isAlone || !turn.isNewest) throw notAlone(place);
  await deps.bus.send('session.delete', { sessionId: place.sessionId }, context);
  return jsonResponse<DeletedResponse>({ id, object: 'response', deleted: true });
}

type Context = ServedRequest['context'];

async function found(
  { bus }: ResponsesDeps,
  context: Context,
  place: ResponsePlace,
  id: string,
): Promise<OpenAiResponse> {
  const turn = await recordedTurn(bus, place, context);
  const response = turn && responsesOf(turn, place).response;
  if (!response) throw noResponse(id, 'response_id');
  return response;
}

function shown({ sessionId }: ResponsePlace, response: OpenAiResponse): HttpResponse {
  return jsonResponse<OpenAiResponse>(response, 200, { [SESSION_HEADER]: sessionId });
}

/** A foreground response ends with its client. */
function streamed(deps: ResponsesDeps, asked: AskedResponse, begun: BegunResponse): HttpResponse {
  const { bus, context, request, body } = asked;
  const { sessionId, turnId } = begun.place;
  const onGone = (): void => {
    if (body.background) return;
    // The turn may have ended meanwhile, and nobody is left to be told.
    bus
      .send('turn.cancel', { sessionId, turnId, reason: 'the client went away' }, context)
      .then(() => (isUnstored(body) ? bus.send('session.delete', { sessionId }, context) : undefined))
      .catch(() => undefined);
  };
  const onOver = (responses: TurnResponses): Promise<void> => forget(deps, asked, begun, responses);
  return eventsOf({ ...deps, context }, request, begun, { after: -1, onGone, onOver });
}

interface StreamOptions {
  /** The client has the event with this number. */
  readonly after: number;
  readonly onGone?: () => void;
  readonly onOver?: (responses: TurnResponses) => Promise<void>;
}

function eventsOf(
  deps: ResponsesDeps & { readonly context: Context },
  request: ServedRequest,
  begun: BegunResponse,
  { after, onGone, onOver }: StreamOptions,
): HttpResponse {
  request.credential?.checkBy(() => void deps.bus.topicOf(begun.place.sessionId, deps.context));
  const response = serverSentEvents((sink) => {
    let isOver = false;
    const feed = readResponse(deps, begun, {
      sink,
      encode: (type, json, number) => (number > after ? `event: ${type}\ndata: ${json}\n\n` : ''),
      onOver: (responses) => {
        isOver = true;
        (onOver?.(responses) ?? Promise.resolve()).then(() => sink.end(), sink.fail);
      },
      onError: (error) => {
        isOver = true;
        sink.fail(error);
      },
    });
    const stop = (): void => {
      feed.stop();
      if (!isOver) onGone?.();
    };
    return { drained: feed.drained, stop };
  }, request);
  return { ...response, headers: { ...response.headers, [SESSION_HEADER]: begun.place.sessionId } };
}

function notAlone({ sessionId }: ResponsePlace): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The response is a part of a conversation.', {
    field: 'response_id',
    issue: 'other responses are in its session, and events are erased only with their whole session',
    suggestion: `DELETE /api/sessions/${sessionId} deletes the conversation.`,
  });
}
