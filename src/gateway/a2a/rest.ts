import type { z } from 'zod';
import type { HttpResponse } from '../../ports/web-server.ts';
import { readJsonObject } from '../http/request-body.ts';
import { parseQuery } from '../http/request-query.ts';
import { checkBodySize } from '../requests/message-size.ts';
import { parseForeign } from '../requests/request-fields.ts';
import type { A2aCall } from './a2a-call.ts';
import { restError } from './a2a-error.ts';
import { ListTasksRequest, SendMessageRequest, TaskQuery } from './a2a-requests.ts';
import { A2A_TYPE, checkVersion } from './a2a-version.ts';
import { checkContentType } from './content-type.ts';
import { listTasks } from './list-tasks.ts';
import { filesLength } from './message-content.ts';
import { sendMessage, sendStreamingMessage } from './send-message.ts';
import { extendedCard } from './served-card.ts';
import { type TaskStream, taskStream } from './task-stream.ts';
import { cancelTask, getTask, subscribeToTask } from './tasks.ts';

/* The HTTP+JSON binding. */

const BODY_TYPES = ['application/json', A2A_TYPE];

export async function postMessage(call: A2aCall): Promise<HttpResponse> {
  return shown(await sendMessage(call, await sentMessage(call)));
}

export async function streamMessage(call: A2aCall): Promise<HttpResponse> {
  return streamed(call, await sendStreamingMessage(call, await sentMessage(call)));
}

export async function showTasks(call: A2aCall): Promise<HttpResponse> {
  checkVersion(call.request);
  return shown(await listTasks(call, parseQuery(ListTasksRequest, call.request)));
}

export async function showTask(call: A2aCall, id: string): Promise<HttpResponse> {
  checkVersion(call.request);
  return shown(await getTask(call, { id, ...parseQuery(TaskQuery, call.request) }));
}

export async function postCancel(call: A2aCall, id: string): Promise<HttpResponse> {
  checkVersion(call.request);
  return shown(await cancelTask(call, { id }));
}

export async function streamTask(call: A2aCall, id: string): Promise<HttpResponse> {
  checkVersion(call.request);
  return streamed(call, await subscribeToTask(call, { id }));
}

export async function showExtendedCard(call: A2aCall): Promise<HttpResponse> {
  checkVersion(call.request);
  return shown(await extendedCard(call.card, call.request));
}

async function sentMessage(call: A2aCall): Promise<SendMessageRequest> {
  const sent = await sentBody(call, SendMessageRequest);
  await checkBodySize(call.request, call.maxImageBytes, () => filesLength(sent));
  return sent;
}

export async function sentBody<S extends z.ZodType>({ request }: A2aCall, schema: S): Promise<z.output<S>> {
  checkVersion(request);
  checkContentType(request, BODY_TYPES);
  return parseForeign(schema, await readJsonObject(request, { mediaTypes: BODY_TYPES }));
}

export function shown(body: object): HttpResponse {
  return { status: 200, headers: { 'Content-Type': A2A_TYPE }, body: JSON.stringify(body) };
}

function streamed(call: A2aCall, stream: TaskStream): HttpResponse {
  return taskStream(call, stream, { response: (response) => response, error: restError });
}
