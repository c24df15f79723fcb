import { checkImageSize, type MaxBytes } from '../../core/size-limits.ts';
import type { Bus } from '../../ports/bus.ts';
import { scopeOf, scopesOfAll } from '../../ports/request-rules.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { MessageRequest, MessageSyncRequest, ResetRequest } from '../../wire/requests.ts';
import type { MessageResponse, MessageSyncResponse, ResetResponse } from '../../wire/responses.ts';
import { jsonResponse, now, type ServedRequest } from '../http/http-message.ts';
import { keyOfRequest } from '../http/idempotency-header.ts';
import { bodyFields, jsonObjectIn, readFields } from '../http/request-body.ts';
import type { Route } from '../http/router.ts';
import { messageOptions } from '../requests/message-options.ts';
import { checkMessageSize } from '../requests/message-size.ts';
import { queuedBehind } from '../turns/queued-message.ts';
import { answerTurn } from '../turns/turn-answer.ts';
import { turnMessage } from '../turns/turn-message.ts';

/** Messages to the agent, and the reset of its conversation. */
export function messageRoutes(bus: Bus, maxImageBytes: MaxBytes): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/message-sync',
      takesImages: true,
      access: scopesOfAll('turn.start', 'session.events'),
      waitsForTurn: true,
      handler: (request) => messageSync(bus, request, maxImageBytes),
    },
    {
      method: 'POST',
      path: '/api/message',
      access: scopeOf('turn.start'),
      handler: (request) => message(bus, request),
    },
    {
      method: 'POST',
      path: '/api/reset',
      access: scopeOf('session.reset'),
      handler: (request) => reset(bus, request),
    },
  ];
}

async function messageSync(bus: Bus, request: ServedRequest, maxImageBytes: MaxBytes): Promise<HttpResponse> {
  const bytes = await request.body();
  checkMessageSize(bytes, bytes.length, maxImageBytes);
  const body = bodyFields(MessageSyncRequest, request, jsonObjectIn(request, bytes));
  const { message: text, sessionId, imageData: image, whenBusy } = body;
  checkImageSize(image, maxImageBytes);
  const options = messageOptions(body);
  const key = await keyOfRequest(request, { text, image, ...options });
  const { content: response, ...ended } = await answerTurn(
    bus,
    turnMessage({ sessionId, text, image, options, whenBusy, key }),
    request,
  );
  return jsonResponse<MessageSyncResponse>({ success: true, response, ...ended, timestamp: now() });
}

async function message(bus: Bus, request: ServedRequest): Promise<HttpResponse> {
  const body = await readFields(MessageRequest, request);
  const { message: text, sessionId, whenBusy } = body;
  const options = messageOptions(body);
  const key = await keyOfRequest(request, { text, ...options });
  const { waitsFor } = await bus.send(
    'turn.start',
    turnMessage({ sessionId, text, options, whenBusy, key }),
    request.context,
  );
  const session = { agentPath: request.context.agentPath, sessionId };
  const queued = waitsFor && { queued: queuedBehind(session, waitsFor) };
  return jsonResponse<MessageResponse>({ status: 'processing', ...queued, timestamp: now() });
}

async function reset(bus: Bus, request: ServedRequest): Promise<HttpResponse> {
  const { sessionId } = await readFields(ResetRequest, request, { optional: true });
  const key = await keyOfRequest(request, { reset: true });
  await bus.send('session.reset', { sessionId, key }, request.context);
  return jsonResponse<ResetResponse>({ status: 'reset initiated', timestamp: now() });
}
