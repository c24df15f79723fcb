import { ServiceError } from '../../core/errors.ts';
import { SessionId } from '../../core/ids.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import { isSentWith } from '../../core/request/sent-before.ts';
import { keyOfRequest } from '../http/idempotency-header.ts';
import { idempotencyKey } from '../requests/idempotency-key.ts';
import { newSessionId } from '../requests/new-session-id.ts';
import { readToEnd } from '../stream/read-to-end.ts';
import { recordedTurn } from '../turns/recorded-turn.ts';
import { turnMessage } from '../turns/turn-message.ts';
import type { A2aCall } from './a2a-call.ts';
import { a2aError } from './a2a-error.ts';
import { hasEnded, type Message, type SendMessageResponse } from './a2a-objects.ts';
import type { SendMessageRequest } from './a2a-requests.ts';
import { isAnswered, messageAnswer } from './message-answer.ts';
import { messageContent } from './message-content.ts';
import { isPlaced } from './placed-message.ts';
import { withPushConfig } from './push-configs.ts';
import { recordedTask, withHistory } from './recorded-task.ts';
import { type BegunTask, readTask } from './task-feed.ts';
import { noTask, taskId, taskPlace } from './task-id.ts';
import type { MessageNote } from './task-messages.ts';
import type { TaskStream } from './task-stream.ts';
import type { TurnTask } from './turn-task.ts';

/** Waits until the task ends or needs input, unless the client does not want that. */
export async function sendMessage(call: A2aCall, sent: SendMessageRequest): Promise<SendMessageResponse> {
  const { returnImmediately = false, historyLength } = sent.configuration ?? {};
  const begun = await beginTask(call, sent);
  const task = returnImmediately
    ? (await recordedTask(call.bus, begun.place, call.context)).task
    : await pausedTask(call, begun);
  return { task: withHistory(task, historyLength) };
}

/** Ends where the other one answers: clients then send what the task needs. */
export async function sendStreamingMessage(call: A2aCall, sent: SendMessageRequest): Promise<TaskStream> {
  const { historyLength } = sent.configuration ?? {};
  const begun = await beginTask(call, sent);
  if (begun.isRepeated) call.request.use?.openStream();
  return { begun, isOver: isPaused, historyLength };
}

/** Answers what a task waits for, or begins a task. */
async function beginTask(call: A2aCall, sent: SendMessageRequest): Promise<BegunTask> {
  const { message } = sent;
  if (message.role !== 'ROLE_USER') throw notOfUser();
  return message.taskId === undefined ? startedTask(call, sent) : answeredTask(call, sent, message.taskId);
}

/** A task has ended, or waits for its client. */
function isPaused({ task }: TurnTask): boolean {
  return task !== null && (hasEnded(task) || task.status.state === 'TASK_STATE_INPUT_REQUIRED');
}

async function pausedTask(call: A2aCall, begun: BegunTask): Promise<NonNullable<TurnTask['task']>> {
  const { bus, context } = call;
  const client = { context, credential: call.request.credential, onLeft: call.request.onLeft };
  const { task } = await readToEnd<TurnTask>({ bus, client }, begun.place.sessionId, (listener) =>
    readTask(call, begun, { ...listener, isOver: isPaused }),
  );
  if (!task) throw noTask(taskId(begun.place));
  return task;
}

async function startedTask(
  call: A2aCall,
  { message, configuration }: SendMessageRequest,
): Promise<BegunTask> {
  const { bus, context, request, maxImageBytes } = call;
  const content = messageContent(message, maxImageBytes);
  const key = await keyOf(request, message);
  const sessionId = await contextOf(call, message);
  const { head: afterSeq } = await bus.send('session.position', { sessionId }, context);
  const isNewSession = message.contextId === undefined && !key ? true : undefined;
  const turn = turnMessage({ sessionId, ...content, key, isNewSession, options: { note: noteOf(message) } });
  const place = { agentId: context.agent, sessionId, turnId: turn.turnId };
  const awaited = { place, afterSeq, hasBegun: false };
  return withPushConfig(call, configuration?.taskPushNotificationConfig, awaited, async () => {
    const { turnId } = await bus.send('turn.start', turn, context);
    if (turnId === place.turnId) return awaited;
    // The message was repeated.
    const begun = { ...place, turnId };
    const repeated = await recordedTurn(bus, begun, context);
    return { place: begun, isRepeated: true, afterSeq: (repeated?.begin ?? 1) - 1 };
  });
}

/** In a context or a task that a client knows, a message is taken once. A message without one has only the header. */
async function keyOf(request: A2aCall['request'], message: Message): Promise<IdempotencyKey | undefined> {
  const inHeader = await keyOfRequest(request, message);
  if (inHeader || !isPlaced(message)) return inHeader;
  return idempotencyKey(`a2a:${message.messageId}`, message);
}

async function contextOf({ bus, context, request }: A2aCall, { contextId }: Message): Promise<SessionId> {
  if (contextId === undefined) return newSessionId({ bus, context, headers: request.headers }, 'a2a');
  const parsed = SessionId.safeParse(contextId);
  if (parsed.success) return parsed.data;
  throw new ServiceError('INVALID_REQUEST', 'The context id is not valid.', {
    field: 'message.contextId',
    issue: parsed.error.issues[0]?.message ?? 'it is not valid',
    suggestion: 'Leave it out to begin a context.',
  });
}

function noteOf({ messageId, metadata, parts }: Message): MessageNote {
  const kept = parts.filter(({ raw }) => raw === undefined);
  const isOneText = kept.length <= 1 && kept.every(({ text, metadata }) => text !== undefined && !metadata);
  return { a2a: { messageId, ...(metadata && { metadata }), ...(!isOneText && { parts: kept }) } };
}

async function answeredTask(
  call: A2aCall,
  { message, configuration }: SendMessageRequest,
  id: string,
): Promise<BegunTask> {
  const { bus, context, request } = call;
  const { place, turn, turnTask, task } = await recordedTask(bus, taskPlace(id, context.agent), context);
  if (message.contextId !== undefined && message.contextId !== task.contextId)
    throw otherContext(task.contextId);
  const awaited = { place, afterSeq: turn.begin - 1, hasBegun: true };
  const key = await keyOf(request, message);
  if (key && isAnswered(turn, message, isSentWith(key, context))) return awaited;
  if (hasEnded(task)) throw ended(id, task.status.state);
  if (turnTask.askedFor.length === 0) throw notWaiting(id, task.contextId);
  const answer = messageAnswer(message, turnTask.askedFor);
  return withPushConfig(call, configuration?.taskPushNotificationConfig, awaited, async () => {
    const { sessionId } = place;
    await ('approval' in answer
      ? bus.send('approval.answer', { sessionId, ...answer.approval, key }, context)
      : bus.send('input.answer', { sessionId, ...answer.input, key }, context));
    return awaited;
  });
}

function notOfUser(): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'A message to the agent is one of the user.', {
    field: 'message.role',
    issue: 'it is not ROLE_USER',
  });
}

function otherContext(contextId: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The task belongs to another context.', {
    field: 'message.contextId',
    issue: `the context of the task is ${contextId}`,
  });
}

function ended(id: string, state: string): ServiceError {
  return a2aError('UNSUPPORTED_OPERATION', 'The task has ended and takes no message.', {
    taskId: id,
    state,
    suggestion: 'Send the message with the contextId alone: it begins a new task there.',
  });
}

function notWaiting(id: string, contextId: string): ServiceError {
  return a2aError('UNSUPPORTED_OPERATION', 'The task is at work and takes no message.', {
    taskId: id,
    suggestion: `Send the message with the contextId ${contextId} alone: it begins a task that follows this one.`,
  });
}
