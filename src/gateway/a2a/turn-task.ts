import type { ErrorBody } from '../../core/errors.ts';
import type { CallId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { SessionEventOf, ToolCallSettled } from '../../core/log/events.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { isoTime } from '../../core/session/view-session.ts';
import type { InputId } from '../../core/tool-call/input-events.ts';
import type { Artifact, Message, Part, StreamResponse, Task, TaskState } from './a2a-objects.ts';
import { type TaskPlace, taskId } from './task-id.ts';
import { type AskedFor, question, requestMessage } from './task-messages.ts';

type Update = Exclude<StreamResponse, { task: Task }>;

/** Names what a call waits for: the question of its server, or else the call itself. */
interface Waiting {
  readonly callId: CallId;
  readonly inputId?: InputId;
}

/** A tool call, as the metadata of a task show it. */
interface ToolCall {
  readonly callId: CallId;
  readonly toolName: string;
  readonly serverId: string | null;
  readonly status: 'requested' | 'succeeded' | 'failed' | 'interrupted';
}

const REPLY = 'reply';

/** A turn as a task. Takes what a reader of the session gets, and tells what changes. */
export class TurnTask {
  readonly #place: TaskPlace;
  readonly #listener: (update: Update) => void;
  #task: Task | null = null;
  /** The reply, as far as it was said. */
  #text = '';
  /** The same up to the last completed step. What comes after it is lost when the service ends. */
  #settledText = '';
  /** The reply is checked before anybody hears it. */
  #hasForm = false;
  /** By the id of the question, or else of the call. */
  readonly #asked = new Map<InputId | CallId, AskedFor>();
  readonly #calls = new Map<CallId, ToolCall>();

  constructor(place: TaskPlace, listener: (update: Update) => void = () => undefined) {
    this.#place = place;
    this.#listener = listener;
  }

  /** Null until its first event has come. */
  get task(): Task | null {
    if (!this.#task) return null;
    const toolCalls = [...this.#calls.values()];
    return {
      ...this.#task,
      ...(this.#text !== '' && { artifacts: [replyOf(this.#text)] }),
      ...(toolCalls.length > 0 && { metadata: { toolCalls } }),
    };
  }

  get state(): TaskState | null {
    return this.#task?.status.state ?? null;
  }

  /** What calls wait for: approval, the client that lent their tool, or the answer to a question of their server. */
  get askedFor(): readonly AskedFor[] {
    return [...this.#asked.values()];
  }

  take(signal: SessionSignal): void {
    if ('event' in signal) {
      if ('turnId' in signal.event && signal.event.turnId === this.#place.turnId) this.#event(signal);
    } else if (signal.type === 'reply.chunk' && signal.turnId === this.#place.turnId && !this.#hasForm) {
      this.#say(signal.content);
    }
  }

  #event(envelope: Envelope): void {
    const { event } = envelope;
    switch (event.type) {
      case 'turn.requested':
        this.#begin(event, envelope);
        return;
      case 'turn.started':
        this.#enter('TASK_STATE_WORKING', envelope);
        return;
      case 'turn.resumed':
        this.#beginAgain();
        return;
      case 'step.completed':
        this.#settledText = this.#text;
        return;
      case 'tool-call.requested':
        this.#tellCall({ ...event, status: 'requested' });
        return;
      case 'approval.requested':
      case 'tool-call.delegated':
      case 'input.requested':
        this.#asked.set(idOf(event), { request: event, since: envelope.time });
        this.#ask(envelope);
        return;
      case 'approval.granted':
        this.#answered(event, { callId: event.callId, approve: true }, envelope);
        return;
      case 'input.answered':
        this.#answered(event, answerOf(event), envelope);
        return;
      case 'tool-call.succeeded':
      case 'tool-call.failed':
      case 'tool-call.interrupted':
        this.#settle(event, envelope);
        return;
      case 'turn.completed':
        this.#complete(event.content);
        this.#enter('TASK_STATE_COMPLETED', envelope);
        return;
      case 'turn.failed':
        this.#endReply();
        this.#enter('TASK_STATE_FAILED', envelope, failureParts(event.error));
        return;
      case 'turn.cancelled':
        this.#endReply();
        this.#enter('TASK_STATE_CANCELED', envelope, [textPart(event.reason)]);
        return;
      default:
    }
  }

  #begin(requested: SessionEventOf<'turn.requested'>, { time }: Envelope): void {
    const { sessionId } = this.#place;
    const id = taskId(this.#place);
    this.#hasForm = requested.options?.output !== undefined;
    this.#task = {
      id,
      contextId: sessionId,
      status: { state: 'TASK_STATE_SUBMITTED', timestamp: isoTime(time) },
      history: [requestMessage(requested, { taskId: id, contextId: sessionId })],
    };
  }

  /** Clients that have the text of the running step forget it. */
  #beginAgain(): void {
    if (this.#text === this.#settledText) return;
    this.#text = this.#settledText;
    this.#tellText(this.#text, {});
  }

  #say(text: string): void {
    if (text === '') return;
    const append = this.#text !== '';
    this.#text += text;
    this.#tellText(text, append ? { append } : {});
  }

  /** What was streamed is the reply, unless a form was asked for. */
  #complete(content: string): void {
    if (content === this.#text) {
      this.#endReply();
      return;
    }
    this.#text = content;
    if (content !== '') this.#tellText(content, { lastChunk: true });
  }

  /** Which chunk is the last one is known only when nothing follows it. */
  #endReply(): void {
    if (this.#text !== '') this.#tellText('', { append: true, lastChunk: true });
  }

  #tellText(text: string, flags: { append?: true; lastChunk?: true }): void {
    this.#listener({ artifactUpdate: { ...this.#ids, artifact: replyOf(text), ...flags } });
  }

  #tellCall({ callId, toolName, serverId, status }: ToolCall): void {
    const toolCall = { callId, toolName, serverId, status };
    this.#calls.set(callId, toolCall);
    if (!this.#task) return;
    this.#listener({
      statusUpdate: { ...this.#ids, status: this.#task.status, metadata: { toolCall } },
    });
  }

  /** A call that is settled while it waits was denied, or has expired. */
  #settle(event: ToolCallSettled, envelope: Envelope): void {
    const { callId, toolName, serverId, type } = event;
    const isDenied = event.type === 'tool-call.failed' && event.cause.kind === 'denied';
    const status =
      type === 'tool-call.succeeded' ? 'succeeded' : type === 'tool-call.failed' ? 'failed' : 'interrupted';
    const answer = isDenied ? { callId, approve: false } : null;
    if (this.#asked.has(callId)) this.#answered(event, answer, envelope);
    this.#tellCall({ callId, toolName, serverId, status });
  }

  /** @param answer null if nobody has answered. */
  #answered(ended: Waiting, answer: Readonly<Record<string, unknown>> | null, envelope: Envelope): void {
    this.#asked.delete(idOf(ended));
    this.#retireMessage();
    if (answer) this.#remember('ROLE_USER', [{ data: answer }], envelope);
    if (this.#asked.size > 0) this.#ask(envelope);
    else this.#enter('TASK_STATE_WORKING', envelope);
  }

  #ask(envelope: Envelope): void {
    this.#enter('TASK_STATE_INPUT_REQUIRED', envelope, question(this.askedFor));
  }

  #enter(state: TaskState, envelope: Envelope, parts: readonly Part[] = []): void {
    if (!this.#task) return;
    this.#retireMessage();
    const message = parts.length > 0 && this.#message('ROLE_AGENT', parts, envelope);
    this.#task.status = { state, ...(message && { message }), timestamp: isoTime(envelope.time) };
    this.#listener({ statusUpdate: { ...this.#ids, status: this.#task.status } });
  }

  /** The message of a status becomes a part of the history when the status changes. */
  #retireMessage(): void {
    const task = this.#task;
    if (!task?.status.message) return;
    const { message, ...status } = task.status;
    task.history = [...(task.history ?? []), message];
    task.status = status;
  }

  #remember(role: Message['role'], parts: readonly Part[], envelope: Envelope): void {
    if (this.#task)
      this.#task.history = [...(this.#task.history ?? []), this.#message(role, parts, envelope)];
  }

  #message(role: Message['role'], parts: readonly Part[], { seq }: Envelope): Message {
    const kind = role === 'ROLE_USER' ? 'answer' : 'status';
    return { messageId: `${this.#place.turnId}.${kind}.${seq}`, ...this.#ids, role, parts: [...parts] };
  }

  get #ids(): { readonly taskId: string; readonly contextId: string } {
    return { taskId: taskId(this.#place), contextId: this.#place.sessionId };
  }
}

function idOf(waiting: Waiting): InputId | CallId {
  return waiting.inputId ?? waiting.callId;
}

/** What a person has answered. Null if the question has ended without an answer. */
function answerOf({ inputId, action, content, cause }: SessionEventOf<'input.answered'>) {
  return cause.kind === 'answered' ? { inputId, action, ...(content && { content }) } : null;
}

function replyOf(text: string): Artifact {
  return { artifactId: REPLY, name: REPLY, parts: [textPart(text)] };
}

function textPart(text: string): Part {
  return { text, mediaType: 'text/plain' };
}

function failureParts(error: ErrorBody): Part[] {
  const { reason } = error.details;
  const said = typeof reason === 'string' ? `${error.message} ${reason}` : error.message;
  return [textPart(said), { data: { error }, mediaType: 'application/json' }];
}
