import { z } from 'zod';
import { type ErrorCode, ServiceError } from '../../core/errors.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { errorCatalogue } from '../../wire/error-catalogue.ts';
import { retryHeaders } from '../http/error-response.ts';
import { jsonResponse } from '../http/http-message.ts';
import { clientError } from '../requests/client-error.ts';
import { parseJson } from '../requests/json-text.ts';
import { checkBodySize } from '../requests/message-size.ts';
import { decodeText, parseForeign } from '../requests/request-fields.ts';
import type { A2aCall } from './a2a-call.ts';
import { type A2aJsonRpcError, a2aError, JsonRpcId, jsonRpcError, jsonRpcFault } from './a2a-error.ts';
import {
  CreatePushConfigRequest,
  GetTaskRequest,
  JsonRpcRequest,
  type JsonRpcResponse,
  ListPushConfigsRequest,
  ListTasksRequest,
  PushConfigRequest,
  SendMessageRequest,
  TaskIdRequest,
} from './a2a-requests.ts';
import { A2A_SCOPES, type A2aMethod, isA2aMethod } from './a2a-scopes.ts';
import { checkVersion } from './a2a-version.ts';
import { checkContentType } from './content-type.ts';
import { listTasks } from './list-tasks.ts';
import { filesLength } from './message-content.ts';
import { createPushConfig, deletePushConfig, getPushConfig, listPushConfigs } from './push-configs.ts';
import { sendMessage, sendStreamingMessage } from './send-message.ts';
import { extendedCard } from './served-card.ts';
import { type TaskStream, taskStream } from './task-stream.ts';
import { cancelTask, getTask, subscribeToTask } from './tasks.ts';

const BODY_TYPES = ['application/json'];

type Answer = { readonly result: object } | { readonly stream: TaskStream };
type Method = (call: A2aCall, params: unknown) => Promise<Answer>;

const METHODS: Readonly<Record<A2aMethod, Method>> = {
  SendMessage: answering(SendMessageRequest, sendMessage),
  SendStreamingMessage: streaming(SendMessageRequest, sendStreamingMessage),
  GetTask: answering(GetTaskRequest, getTask),
  ListTasks: answering(ListTasksRequest, listTasks),
  CancelTask: answering(TaskIdRequest, cancelTask),
  SubscribeToTask: streaming(TaskIdRequest, subscribeToTask),
  GetExtendedAgentCard: answering(z.object({}), ({ card, request }) => extendedCard(card, request)),
  CreateTaskPushNotificationConfig: answering(CreatePushConfigRequest, createPushConfig),
  GetTaskPushNotificationConfig: answering(PushConfigRequest, getPushConfig),
  ListTaskPushNotificationConfigs: answering(ListPushConfigsRequest, listPushConfigs),
  DeleteTaskPushNotificationConfig: answering(PushConfigRequest, deletePushConfig),
};

/** Errors that proxies and HTTP clients act upon. The others come with the status 200, as is usual for JSON-RPC. */
const WITH_STATUS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'] as const),
]);

/** Answers a request of the JSON-RPC binding, whose errors have the id of the request. */
export async function answerJsonRpc(call: A2aCall): Promise<HttpResponse> {
  let id: JsonRpcId = null;
  try {
    const sent = await bodyOf(call);
    id = idIn(sent);
    checkVersion(call.request);
    const { method, params } = requestIn(sent);
    await checkBodySize(call.request, call.maxImageBytes, () => filesLength(params));
    if (!isA2aMethod(method)) throw unknownMethod(method);
    call.authenticator.require?.(call.context, A2A_SCOPES[method], `A2A ${method}`);
    const answer = await METHODS[method](call, params);
    return 'stream' in answer
      ? streamed(call, answer.stream, id)
      : jsonResponse<JsonRpcResponse>({ jsonrpc: '2.0', id, result: answer.result });
  } catch (thrown) {
    const error = clientError(
      thrown,
      call.log,
      { path: call.request.path },
      'an A2A request failed unexpectedly',
    );
    return refused(error, id);
  }
}

function answering<S extends z.ZodType>(
  schema: S,
  run: (call: A2aCall, params: z.output<S>) => Promise<object>,
): Method {
  return async (call, params) => ({ result: await run(call, parseForeign(schema, params)) });
}

function streaming<S extends z.ZodType>(
  schema: S,
  open: (call: A2aCall, params: z.output<S>) => Promise<TaskStream>,
): Method {
  return async (call, params) => ({ stream: await open(call, parseForeign(schema, params)) });
}

function streamed(call: A2aCall, stream: TaskStream, id: JsonRpcId): HttpResponse {
  return taskStream(call, stream, {
    response: (result): JsonRpcResponse => ({ jsonrpc: '2.0', id, result }),
    error: (error) => jsonRpcError(error, id),
  });
}

function refused(error: ServiceError, id: JsonRpcId): HttpResponse {
  const status = WITH_STATUS.has(error.code) ? errorCatalogue[error.code].status : 200;
  return jsonResponse<A2aJsonRpcError>(jsonRpcError(error, id), status, retryHeaders(error));
}

async function bodyOf({ request }: A2aCall): Promise<unknown> {
  checkContentType(request, BODY_TYPES);
  const bytes = await request.body();
  try {
    return parseJson(decodeText(bytes));
  } catch (error) {
    throw notParsed(error);
  }
}

function notParsed(thrown: unknown): unknown {
  if (thrown instanceof SyntaxError)
    return jsonRpcFault('PARSE_ERROR', 'The request body is not valid JSON.');
  // Nested too deeply, or not UTF-8.
  return thrown instanceof ServiceError
    ? jsonRpcFault('PARSE_ERROR', thrown.message, thrown.details)
    : thrown;
}

function idIn(sent: unknown): JsonRpcId {
  return z.object({ id: JsonRpcId }).safeParse(sent).data?.id ?? null;
}

function requestIn(sent: unknown): JsonRpcRequest {
  const parsed = JsonRpcRequest.safeParse(sent);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const isParams = issue?.path[0] === 'params';
  const details = { field: issue?.path.join('.') || 'body', issue: issue?.message ?? 'it is not valid' };
  throw isParams
    ? a2aError('INVALID_PARAMS', 'The params must be an object.', details)
    : jsonRpcFault('INVALID_REQUEST', 'The body is not a request of JSON-RPC 2.0.', details);
}

function unknownMethod(method: string): ServiceError {
  return jsonRpcFault('METHOD_NOT_FOUND', `There is no method ${method}.`, {
    available: Object.keys(METHODS),
  });
}
