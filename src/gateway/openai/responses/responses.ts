import { ServiceError } from '../../../core/errors.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import { jsonResponse, type ServedRequest } from '../../http/http-message.ts';
import { keyOfRequest } from '../../http/idempotency-header.ts';
import { readJsonObject } from '../../http/request-body.ts';
import { parseQuery } from '../../http/request-query.ts';
import { checkBodySize } from '../../requests/message-size.ts';
import { parseForeign } from '../../requests/request-fields.ts';
import { holdSession } from '../../security/held-session.ts';
import {
  type EventFeed,
  type EventSink,
  type StreamEnd,
  serverSentEvents,
} from '../../sse/server-sent-events.ts';
import { isLastMessage } from '../../turns/recorded-turn.ts';
import { withModel } from '../chosen-agent.ts';
import { SESSION_HEADER } from '../chosen-session.ts';
import { responseErrorEvent } from '../openai-error.ts';
import type { AskedResponse, BegunResponse, PlacedResponse } from './asked-response.ts';
import { imagesLength } from './input-images.ts';
import { type InputItemList, inputItems } from './input-items.ts';
import { ItemsQuery, itemPage } from './item-page.ts';
import { type RecordedResponse, recordedResponse } from './recorded-response.ts';
import { readResponse } from './response-feed.ts';
import { noResponse, type ResponsePlace, responseId, responsePlace } from './response-id.ts';
import { type OpenAiResponse, ResponseNote } from './response-object.ts';
import { type DeletedResponse, ResponseRequest, RetrieveQuery } from './response-request.ts';
import { beginResponse } from './response-turn.ts';
import type { TurnResponses } from './turn-responses.ts';
import { abandon, endsWithClient, forget, type ResponsesDeps, whole } from './whole-response.ts';

/*
 * OpenAI's Responses API. A session is a conversation, and a response is a turn in it; everything that it shows is read from
 * the log of the session.
 */

export async function createResponse(deps: ResponsesDeps, request: ServedRequest): Promise<HttpResponse> {
  const { bus, maxImageBytes } = deps;
  const body = parseForeign(ResponseRequest, await readJsonObject(request));
  await checkBodySize(request, maxImageBytes, () => imagesLength(body));
  const context = await withModel(bus, request, body.model);
  const key = await keyOfRequest(request, body);
  const asked: AskedResponse = {
    bus,
    context,
    credential: request.credential,
    request,
    body,
    agentId: body.model,
    key,
    maxImageBytes,
  };
  const begun = await beginResponse(asked);
  if (body.stream) {
    if (begun.isRepeated) request.use?.openStream();
    return streamed(deps, request, asked, begun);
  }
  return shown(begun.place, await (body.background ? asBegun(asked, begun) : whole(deps, asked, begun)));
}

export async function retrieveResponse(
  deps: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<HttpResponse> {
  const { stream, starting_after: after = -1 } = parseQuery(RetrieveQuery, request);
  const { context, place, turn, response } = await findResponse(deps, request, id);
  if (stream === 'false') return shown(place, response);
  request.use?.openStream();
  return eventsOf({ ...deps, context }, request, { place, afterSeq: turn.begin - 1 }, { after });
}

/** Ends the turn, unless that is at work on a later response. The response is what it has become by then. */
export async function cancelResponse(
  deps: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<HttpResponse> {
  const found = await findResponse(deps, request, id);
  const { context, place } = found;
  if (!isLastOfTurn(found)) return shown(place, found.response);
  const { sessionId, turnId } = place;
  const reason = 'the client cancelled the response';
  await deps.bus.send('turn.cancel', { sessionId, turnId, reason }, context);
  return shown(place, (await findResponse(deps, request, id)).response);
}

export async function listInputItems(
  deps: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<HttpResponse> {
  const query = parseQuery(ItemsQuery, request);
  const { place, turn } = await findResponse(deps, request, id);
  const items = inputItems(turn, place);
  const ordered = query.order === 'asc' ? items : items.toReversed();
  return jsonResponse<InputItemList>(await itemPage(ordered, query));
}

/** Deletes the session that was made for the response. Events cannot be taken out of the middle of a conversation. */
export async function deleteResponse(
  deps: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<HttpResponse> {
  const found = await findResponse(deps, request, id);
  const { context, place, turn } = found;
  const { isAlone } = ResponseNote.parse(turn.requested.options?.note ?? {});
  if (!isAlone || !isLastMessage(turn) || !isLastOfTurn(found)) throw notAlone(place, context);
  await deps.bus.send('session.delete', { sessionId: place.sessionId }, context);
  return jsonResponse<DeletedResponse>({ id, object: 'response', deleted: true });
}

type Context = ServedRequest['context'];

interface FoundResponse extends RecordedResponse {
  readonly place: ResponsePlace;
  readonly context: Context;
}

async function findResponse(
  { bus }: ResponsesDeps,
  request: ServedRequest,
  id: string,
): Promise<FoundResponse> {
  const place = responsePlace(id, 'response_id');
  const context = await withModel(bus, request, place.agentId);
  const found = await recordedResponse(bus, place, context);
  if (!found) throw noResponse(id, 'response_id');
  return { ...found, place, context };
}

/** Whether no other response has begun with the results of its calls. */
function isLastOfTurn({ responses, place }: FoundResponse): boolean {
  return responses.firstSteps.at(-1) === place.firstStep;
}

/** What has come of it by now. */
async function asBegun({ bus, context }: AskedResponse, { place }: BegunResponse): Promise<OpenAiResponse> {
  const found = await recordedResponse(bus, place, context);
  if (!found) throw noResponse(responseId(place), 'response_id');
  return found.response;
}

function shown({ sessionId }: ResponsePlace, response: OpenAiResponse): HttpResponse {
  return jsonResponse<OpenAiResponse>(response, 200, { [SESSION_HEADER]: sessionId });
}

function streamed(
  deps: ResponsesDeps,
  request: ServedRequest,
  asked: AskedResponse,
  begun: BegunResponse,
): HttpResponse {
  const { context } = asked;
  const onOver = (responses: TurnResponses): Promise<void> => forget(deps, asked, begun, responses);
  return eventsOf({ ...deps, context }, request, begun, {
    after: -1,
    onOver,
    ...(endsWithClient(asked) && { onGone: () => abandon(asked, begun) }),
  });
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
  begun: PlacedResponse,
  { after, onGone, onOver }: StreamOptions,
): HttpResponse {
  holdSession(deps.bus, begun.place.sessionId, { context: deps.context, credential: request.credential });
  /** Number of the newest event that the client has. An error has it, too: who comes back after it misses nothing. */
  let newest = Math.max(after, 0);
  const open = (sink: EventSink): EventFeed => {
    let isOver = false;
    const feed = readResponse(deps, begun, {
      sink,
      encode: (type, json, number) => {
        if (number <= after) return '';
        newest = number;
        return `event: ${type}\ndata: ${json}\n\n`;
      },
      onOver: (responses) => {
        isOver = true;
        (onOver?.(responses) ?? Promise.resolve()).then(() => sink.end(), sink.fail);
      },
      onError: (error) => {
        isOver = true;
        sink.fail(error);
      },
      onGivenUp: (error) => {
        isOver = true;
        sink.refuse(error);
      },
    });
    const stop = (why: StreamEnd): void => {
      feed.stop();
      if (!isOver && why === 'left') onGone?.();
    };
    return { drained: feed.drained, stop };
  };
  const encodeError = (error: ServiceError): string => responseErrorEvent(error, newest);
  const response = serverSentEvents(open, { ...request, encodeError });
  return { ...response, headers: { ...response.headers, [SESSION_HEADER]: begun.place.sessionId } };
}

function notAlone({ sessionId }: ResponsePlace, { agentPath = '' }: Context): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The response is a part of a conversation.', {
    field: 'response_id',
    issue: 'other responses are in its session, and events are erased only with their whole session',
    suggestion: `DELETE ${agentPath}/api/sessions/${sessionId} deletes the conversation.`,
  });
}
