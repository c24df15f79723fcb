import { z } from 'zod';
import { SessionId } from '../contract/ids.ts';
import { CancelRequest, EventsQuery } from '../contract/requests.ts';
import type { Bus } from '../runtime/bus.ts';
import { eventStream } from './event-stream.ts';
import { type HttpRequest, type HttpResponse, jsonResponse } from './http-message.ts';
import type { Outbox } from './outbox.ts';
import { parseFields, readJsonObject } from './request-body.ts';
import { resumableFrame } from './resumable-codec.ts';
import type { Parameters, Route } from './router.ts';

const SessionIdParameter = z.object({ sessionId: SessionId });

const now = (): string => new Date().toISOString();

/** Sessions: their events, and control of their turns. */
export function sessionRoutes(bus: Bus, outbox: Outbox): Route[] {
  const session = '/api/sessions/:sessionId';
  return [
    { method: 'POST', path: `${session}/cancel`, handler: (request, at) => cancel(bus, request, at) },
    { method: 'GET', path: `${session}/events`, handler: (request, at) => events(bus, outbox, request, at) },
  ];
}

async function cancel(bus: Bus, request: HttpRequest, at: Parameters): Promise<HttpResponse> {
  const sessionId = sessionOf(at);
  const { reason = 'the client cancelled it' } = parseFields(
    CancelRequest,
    await readJsonObject(request, { optional: true }),
  );
  const cancelled = await bus.send('turn.cancel', { sessionId, reason });
  return jsonResponse({ status: cancelled ? 'cancelled' : 'idle', sessionId, timestamp: now() });
}

/** A page of the log as JSON, or for a client that accepts an event stream all of it and what follows. */
async function events(bus: Bus, outbox: Outbox, request: HttpRequest, at: Parameters): Promise<HttpResponse> {
  const sessionId = sessionOf(at);
  const query = parseFields(EventsQuery, Object.fromEntries(new URLSearchParams(request.query)));
  if (request.headers.get('accept')?.includes('text/event-stream')) {
    const lastEventId = request.headers.get('last-event-id');
    return eventStream({ bus, outbox }, sessionId, query, lastEventId);
  }
  const { after, limit } = query;
  const [page, { head }] = await Promise.all([
    bus.send('session.events', { sessionId, afterSeq: after, limit }),
    bus.send('session.position', { sessionId }),
  ]);
  const frames = page.map((envelope) => ({
    ...resumableFrame(envelope),
    time: new Date(envelope.time).toISOString(),
  }));
  return jsonResponse({ sessionId, events: frames, after, head, timestamp: now() });
}

function sessionOf({ sessionId }: Parameters): SessionId {
  return parseFields(SessionIdParameter, { sessionId }).sessionId;
}
