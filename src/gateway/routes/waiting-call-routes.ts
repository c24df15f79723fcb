import type { Bus } from '../../ports/bus.ts';
import { scopeOf } from '../../ports/request-rules.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import {
  ApprovalRequest,
  ApprovalsQuery,
  CallAnswerRequest,
  InputRequest,
  InputsQuery,
} from '../../wire/requests.ts';
import type {
  ApprovalResponse,
  ApprovalsResponse,
  CallAnswerResponse,
  InputResponse,
  InputsResponse,
} from '../../wire/responses.ts';
import { jsonResponse, now, type ServedRequest } from '../http/http-message.ts';
import { keyOfRequest } from '../http/idempotency-header.ts';
import { readFields } from '../http/request-body.ts';
import { parseQuery } from '../http/request-query.ts';
import type { Parameters, Route } from '../http/router.ts';
import { answeredOutcome } from '../turns/answered-outcome.ts';
import { sessionOf } from './session-parameter.ts';

/** Tool calls that wait for somebody: for approval, for the client that lent the tool, or for an answer. */
export function waitingCallRoutes(bus: Bus): Route[] {
  const session = '/api/sessions/:sessionId';
  return [
    {
      method: 'GET',
      path: '/api/approvals',
      access: scopeOf('approval.list'),
      handler: (request) => approvals(bus, request),
    },
    {
      method: 'GET',
      path: '/api/inputs',
      access: scopeOf('input.list'),
      handler: (request) => inputs(bus, request),
    },
    {
      method: 'POST',
      path: `${session}/approvals/:callId`,
      access: scopeOf('approval.answer'),
      handler: (request, at) => answerApproval(bus, request, at),
    },
    {
      method: 'POST',
      path: `${session}/calls/:callId`,
      access: scopeOf('tool-call.answer'),
      handler: (request, at) => answerCall(bus, request, at),
    },
    {
      method: 'POST',
      path: `${session}/inputs/:inputId`,
      access: scopeOf('input.answer'),
      handler: (request, at) => answerInput(bus, request, at),
    },
  ];
}

async function approvals(bus: Bus, request: ServedRequest): Promise<HttpResponse> {
  const { limit } = parseQuery(ApprovalsQuery, request);
  const waiting = await bus.send('approval.list', { limit }, request.context);
  return jsonResponse<ApprovalsResponse>({ ...waiting, timestamp: now() });
}

async function inputs(bus: Bus, request: ServedRequest): Promise<HttpResponse> {
  const { limit } = parseQuery(InputsQuery, request);
  const waiting = await bus.send('input.list', { limit }, request.context);
  return jsonResponse<InputsResponse>({ ...waiting, timestamp: now() });
}

async function answerApproval(bus: Bus, request: ServedRequest, at: Parameters): Promise<HttpResponse> {
  const sessionId = sessionOf(at);
  const { callId = '' } = at;
  const body = await readFields(ApprovalRequest, request);
  const key = await keyOfRequest(request, body);
  const { decision, ...answer } = body;
  const approved = decision === 'approve';
  await bus.send('approval.answer', { sessionId, callId, approved, ...answer, key }, request.context);
  return jsonResponse<ApprovalResponse>({
    status: approved ? 'approved' : 'denied',
    sessionId,
    callId,
    timestamp: now(),
  });
}

async function answerCall(bus: Bus, request: ServedRequest, at: Parameters): Promise<HttpResponse> {
  const sessionId = sessionOf(at);
  const { callId = '' } = at;
  const body = await readFields(CallAnswerRequest, request);
  const key = await keyOfRequest(request, body);
  const outcome = answeredOutcome(body);
  await bus.send('tool-call.answer', { sessionId, callId, outcome, key }, request.context);
  return jsonResponse<CallAnswerResponse>({ status: 'answered', sessionId, callId, timestamp: now() });
}

async function answerInput(bus: Bus, request: ServedRequest, at: Parameters): Promise<HttpResponse> {
  const sessionId = sessionOf(at);
  const { inputId = '' } = at;
  const body = await readFields(InputRequest, request);
  const key = await keyOfRequest(request, body);
  await bus.send('input.answer', { sessionId, inputId, ...body, key }, request.context);
  return jsonResponse<InputResponse>({ status: 'answered', sessionId, inputId, timestamp: now() });
}
