import { withOwnKey } from '../../core/access/session-keys.ts';
import { ServiceError } from '../../core/errors.ts';
import type { SessionEvent } from '../../core/log/events.ts';
import { CANCELLED_BY_CLIENT } from '../../core/turn/ending-reasons.ts';
import type { Bus } from '../../ports/bus.ts';
import { scopeOf } from '../../ports/request-rules.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import {
  CancelRequest,
  DEFAULT_PAGE_SIZE,
  EventsQuery,
  ForkRequest,
  ImagePath,
  RenameRequest,
  SessionQuery,
  SessionsQuery,
} from '../../wire/requests.ts';
import type {
  CancelResponse,
  DeleteSessionResponse,
  EventsResponse,
  ForkResponse,
  ImageResponse,
  RenameResponse,
  SessionResponse,
  SessionsResponse,
} from '../../wire/responses.ts';
import { acceptsEventStream } from '../http/content-negotiation.ts';
import { jsonResponse, now, type ServedRequest } from '../http/http-message.ts';
import { keyOfRequest } from '../http/idempotency-header.ts';
import { largeJsonResponse } from '../http/large-json.ts';
import { readFields } from '../http/request-body.ts';
import { parseQuery } from '../http/request-query.ts';
import type { Parameters, Route } from '../http/router.ts';
import { parseFields } from '../requests/request-fields.ts';
import { holdSession } from '../security/held-session.ts';
import { sessionEventStream } from '../sse/session-event-stream.ts';
import { timedFrame } from '../stream/resumable-frames.ts';
import type { SignalFanOut } from '../stream/signal-fan-out.ts';
import { sessionExport } from './session-export.ts';
import { sessionOf } from './session-parameter.ts';

/** Sessions: list, present and past state, events, and control of their turns. */
export function sessionRoutes(bus: Bus, fanOut: SignalFanOut): Route[] {
  const session = '/api/sessions/:sessionId';
  return [
    {
      method: 'GET',
      path: '/api/sessions',
      access: scopeOf('session.list'),
      handler: (request) => list(bus, request),
    },
    {
      method: 'GET',
      path: session,
      access: scopeOf('session.view'),
      mayStream: true,
      handler: (request, at) => view(bus, request, at),
    },
    {
      method: 'PATCH',
      path: session,
      access: scopeOf('session.rename'),
      handler: (request, at) => rename(bus, request, at),
    },
    {
      method: 'DELETE',
      path: session,
      access: scopeOf('session.delete'),
      handler: (request, at) => remove(bus, request, at),
    },
    {
      method: 'POST',
      path: `${session}/fork`,
      access: scopeOf('session.fork'),
      handler: (request, at) => fork(bus, request, at),
    },
    {
      method: 'POST',
      path: `${session}/cancel`,
      access: scopeOf('turn.cancel'),
      handler: (request, at) => cancel(bus, request, at),
    },
    {
      method: 'GET',
      path: `${session}/export`,
      access: scopeOf('session.events'),
      mayStream: true,
      handler: ({ context, credential, use }, at) => {
        // An export takes as long as its client, and holds a part of the session meanwhile.
        use?.openStream();
        return sessionExport({ bus, context, lost: credential?.lost }, sessionOf(at));
      },
    },
    {
      method: 'GET',
      path: `${session}/images/:seq`,
      access: scopeOf('session.events'),
      handler: (request, at) => image(bus, request, at),
    },
    {
      method: 'GET',
      path: `${session}/events`,
      access: scopeOf('session.events'),
      handler: (request, at) => events(bus, fanOut, request, at),
    },
  ];
}

async function list(bus: Bus, request: ServedRequest): Promise<HttpResponse> {
  const { after, limit, query } = parseQuery(SessionsQuery, request);
  const sessions = await bus.send(
    'session.list',
    { limit, ...(after !== undefined && { after }), ...(query !== undefined && { query }) },
    request.context,
  );
  return jsonResponse<SessionsResponse>({ sessions, timestamp: now() });
}

async function view(bus: Bus, request: ServedRequest, parameters: Parameters): Promise<HttpResponse> {
  const { at } = parseQuery(SessionQuery, request);
  const sessionId = sessionOf(parameters);
  const session = await bus.send(
    'session.view',
    { sessionId, ...(at !== undefined && { at }) },
    request.context,
  );
  holdSession(bus, sessionId, request);
  return largeJsonResponse<SessionResponse>({ session, timestamp: now() }, request);
}

async function rename(bus: Bus, request: ServedRequest, at: Parameters): Promise<HttpResponse> {
  const sessionId = sessionOf(at);
  const { title } = await readFields(RenameRequest, request);
  const renamed = await bus.send('session.rename', { sessionId, title }, request.context);
  return jsonResponse<RenameResponse>({ status: 'renamed', sessionId, ...renamed, timestamp: now() });
}

async function remove(bus: Bus, request: ServedRequest, parameters: Parameters): Promise<HttpResponse> {
  const sessionId = sessionOf(parameters);
  await bus.send('session.delete', { sessionId }, request.context);
  return jsonResponse<DeleteSessionResponse>({ status: 'deleted', sessionId, timestamp: now() });
}

async function fork(bus: Bus, request: ServedRequest, parameters: Parameters): Promise<HttpResponse> {
  const from = sessionOf(parameters);
  const body = await readFields(ForkRequest, request, { optional: true });
  const { at, sessionId: to } = body;
  const key = await keyOfRequest(request, body);
  const forked = await bus.send('session.fork', { from, at, to, key }, request.context);
  return jsonResponse<ForkResponse>({ status: 'forked', from, ...forked, timestamp: now() });
}

/** The image that came with a message. */
async function image(bus: Bus, request: ServedRequest, at: Parameters): Promise<HttpResponse> {
  const { sessionId, seq } = parseFields(ImagePath, at);
  const query = { sessionId, afterSeq: seq - 1, limit: 1 };
  const [envelope] = await bus.send('session.events', query, request.context);
  // Throws if there is no such session.
  if (!envelope) await bus.send('session.view', { sessionId }, request.context);
  const event = envelope?.event;
  if (event?.type !== 'turn.requested' || !event.image) throw noImage(seq);
  return jsonResponse<ImageResponse>({ image: event.image, timestamp: now() });
}

function noImage(seq: number): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The field seq is not valid: this event has no image.', {
    field: 'seq',
    issue: `event ${seq} is no message with an image`,
    suggestion: 'Use the `seq` of a `message` event with `image`.',
  });
}

async function cancel(bus: Bus, request: ServedRequest, at: Parameters): Promise<HttpResponse> {
  const sessionId = sessionOf(at);
  const { reason = CANCELLED_BY_CLIENT } = await readFields(CancelRequest, request, { optional: true });
  const key = await keyOfRequest(request, { reason });
  const cancelled = await bus.send('turn.cancel', { sessionId, reason, key }, request.context);
  return jsonResponse<CancelResponse>({
    status: cancelled ? 'cancelled' : 'idle',
    sessionId,
    timestamp: now(),
  });
}

/** The streamed text of an unfinished step. An event stream has it as a chunk before the error. */
function partialOf(event: SessionEvent): { partial?: string } {
  const isCut = event.type === 'turn.cancelled' || event.type === 'turn.failed';
  return isCut && event.partial !== '' ? { partial: event.separator + event.partial } : {};
}

/**
 * A page of the log as JSON. A client that accepts an event stream gets all later events instead, then live
 * ones.
 */
async function events(
  bus: Bus,
  fanOut: SignalFanOut,
  request: ServedRequest,
  at: Parameters,
): Promise<HttpResponse> {
  const sessionId = sessionOf(at);
  const { context } = request;
  const query = parseQuery(EventsQuery, request);
  if (await acceptsEventStream(request))
    return sessionEventStream({ bus, fanOut, request }, sessionId, query);
  const { after, limit = DEFAULT_PAGE_SIZE } = query;
  const [page, { head }] = await Promise.all([
    bus.send('session.events', { sessionId, afterSeq: after, limit }, context),
    bus.send('session.position', { sessionId }, context),
  ]);
  const frames = page.map((envelope) => ({
    ...timedFrame(withOwnKey(envelope, context)),
    ...partialOf(envelope.event),
  }));
  // The log may be ahead of the session in memory.
  const last = page.at(-1)?.seq ?? 0;
  return largeJsonResponse<EventsResponse>(
    { sessionId, events: frames, after, head: Math.max(head, last), timestamp: now() },
    request,
  );
}
