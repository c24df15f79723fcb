import { type ErrorBody, ServiceError } from '../../../core/errors.ts';
import type { CallId } from '../../../core/ids.ts';
import type { Envelope } from '../../../core/log/envelope.ts';
import type { SessionEventOf, ToolCallSettled } from '../../../core/log/events.ts';
import type { SessionSignal } from '../../../core/session/session-signal.ts';
import { toolResultText } from '../../../core/tool-call/tool-result-text.ts';
import { joinReply, separatorAfter } from '../../../core/turn/reply-text.ts';
import { callIdsOf, spokenText } from '../../../core/turn/step-parts.ts';
import { turnCancelled } from '../../turns/turn-end.ts';
import { callIdFor } from '../client-tools.ts';
import { itemId } from './item-id.ts';
import { type ResponsePlace, responseId } from './response-id.ts';
import type { McpCallItem } from './response-items.ts';
import { type EventListener, ResponseLog } from './response-log.ts';
import { begunResponse, type OpenAiResponse, unixSeconds } from './response-object.ts';
import { withUsage } from './response-usage.ts';

type Requested = SessionEventOf<'turn.requested'>;
type Call = SessionEventOf<'tool-call.requested'>;

interface StepResponse {
  readonly firstStep: number;
  readonly response: OpenAiResponse;
}

/**
 * The responses of one turn: the first begins with the turn, and each other one when a client has answered the calls of its
 * tools. Takes what a reader of the session gets, and tells the events of one of them.
 */
export class TurnResponses {
  readonly #wanted: ResponsePlace;
  readonly #listener: EventListener;
  #requested: Requested | null = null;
  #current: ResponseLog | null = null;
  #found: ResponseLog | null = null;
  readonly #all: StepResponse[] = [];
  #failure: ServiceError | null = null;
  /** The newest completed step. */
  #lastStep = 0;
  #attempt = 1;
  /** The texts of the completed steps, joined: a separator that was streamed is no part of a message. */
  #reply = '';
  /** The reply of a step whose form is checked, until it is certain that it is one. */
  #checked: { readonly id: string; readonly text: string } | null = null;
  #isCompleted = false;
  #isTurnOver = false;
  readonly #unsettled = new Set<CallId>();
  readonly #calls = new Map<CallId, Call>();
  readonly #delegated = new Map<CallId, SessionEventOf<'tool-call.delegated'>>();

  constructor(wanted: ResponsePlace, listener: EventListener = () => undefined) {
    this.#wanted = wanted;
    this.#listener = listener;
  }

  /** The wanted response; null if it has not begun. */
  get response(): OpenAiResponse | null {
    return this.#found?.response ?? null;
  }

  /** Nothing of the wanted response follows. */
  get isOver(): boolean {
    if (!this.#found) return false;
    return this.#found !== this.#current || this.#isCompleted || this.#isTurnOver;
  }

  get isTurnOver(): boolean {
    return this.#isTurnOver;
  }

  /** The first steps of the responses that have begun. */
  get firstSteps(): readonly number[] {
    return this.#all.map(({ firstStep }) => firstStep);
  }

  /** The responses that have begun. */
  get all(): readonly StepResponse[] {
    return this.#all;
  }

  /** The number of the step that follows the completed ones. */
  get nextStep(): number {
    return this.#lastStep + 1;
  }

  /** Why the turn has ended without a reply. */
  get failure(): ServiceError | null {
    return this.#failure;
  }

  /** The calls that only the client can answer, if nothing else is missing. */
  get missingCalls(): readonly CallId[] {
    const isPaused = this.#isCompleted && !this.#isTurnOver;
    return isPaused ? [...this.#unsettled] : [];
  }

  take(signal: SessionSignal): void {
    if ('event' in signal) {
      if ('turnId' in signal.event && signal.event.turnId === this.#wanted.turnId) this.#event(signal);
    } else if (signal.type === 'reply.chunk' && signal.turnId === this.#wanted.turnId && !this.#hasForm) {
      const { step, offset, content } = signal;
      const separator = separatorAfter(this.#reply).length;
      this.#log.say(this.#idOf('msg', step), content.slice(Math.max(0, separator - offset)));
    }
  }

  #event({ event, time }: Envelope): void {
    switch (event.type) {
      case 'turn.requested':
        this.#requested = event;
        this.#begin(1, time, null);
        return;
      case 'turn.started':
        this.#start();
        return;
      case 'turn.resumed':
        this.#beginAgain(event.attempt);
        return;
      case 'step.completed':
        this.#completeStep(event);
        return;
      case 'output.rejected':
        this.#checked = null;
        return;
      case 'tool-call.requested':
        this.#callTool(event);
        return;
      case 'tool-call.delegated':
        this.#delegate(event, time);
        return;
      case 'tool-call.succeeded':
      case 'tool-call.failed':
      case 'tool-call.interrupted':
        this.#settle(event, time);
        return;
      case 'turn.completed':
        if (this.#checked) this.#log.say(this.#checked.id, this.#checked.text);
        this.#log.endMessage('completed');
        this.#endTurn(event.finishReason === 'length' ? 'incomplete' : 'completed', time);
        return;
      case 'turn.failed':
        this.#failure = ServiceError.of(event.error);
        this.#log.response.error = responseError(event.error);
        this.#log.endMessage('incomplete');
        this.#endTurn('failed', time);
        return;
      case 'turn.cancelled':
        this.#failure = turnCancelled(event.reason);
        this.#log.endMessage('incomplete');
        this.#endTurn('cancelled', time);
        return;
      default:
    }
  }

  get #hasForm(): boolean {
    return this.#requested?.options?.output !== undefined;
  }

  get #log(): ResponseLog {
    if (!this.#current) throw new Error(`turn ${this.#wanted.turnId} is read from its middle`);
    return this.#current;
  }

  /** Ids of items differ between attempts, because what they say does. */
  #idOf(kind: 'msg' | 'rs', step: number, more = ''): string {
    const attempt = this.#attempt > 1 ? `_${this.#attempt}` : '';
    return itemId(kind, `${this.#wanted.turnId}_${step}${more}${attempt}`, this.#wanted.sessionId);
  }

  #begin(firstStep: number, createdAt: number, previous: string | null): void {
    if (!this.#requested) return;
    const isWanted = firstStep === this.#wanted.firstStep;
    const place = { ...this.#wanted, firstStep };
    const response = begunResponse(place, this.#requested, { createdAt, previous });
    this.#current = new ResponseLog(response, isWanted ? this.#listener : () => undefined);
    if (isWanted) this.#found = this.#current;
    this.#all.push({ firstStep, response });
    this.#isCompleted = false;
    this.#current.tell('response.created');
    if (response.status === 'queued') this.#current.tell('response.queued');
  }

  #start(): void {
    this.#log.response.status = 'in_progress';
    this.#log.tell('response.in_progress');
  }

  #beginAgain(attempt: number): void {
    // While tools run, and where the form is checked first, nothing of a message was told.
    const wasSpeaking = this.#unsettled.size === 0 && !this.#hasForm;
    const lostId = wasSpeaking ? this.#idOf('msg', this.nextStep) : null;
    this.#attempt = attempt;
    // A response that waits for its client is told already.
    if (!this.#isCompleted) this.#log.beginAgain(attempt, lostId);
  }

  #completeStep({ step, parts, usage }: SessionEventOf<'step.completed'>): void {
    const log = this.#log;
    this.#lastStep = step;
    log.response.usage = withUsage(log.response.usage, usage);
    const text = spokenText(parts);
    const callIds = callIdsOf(parts);
    if (this.#hasForm) this.#checked = callIds.length > 0 ? null : { id: this.#idOf('msg', step), text };
    else this.#reply = joinReply(this.#reply, text);
    log.endMessage('completed');
    if (this.#requested?.options?.keepReasoning)
      for (const [index, part] of parts.entries())
        if (part.type === 'reasoning') log.think(this.#idOf('rs', step, `_${index}`), part.text);
    for (const callId of callIds) this.#unsettled.add(callId);
  }

  #callTool(call: Call): void {
    const { callId, name, serverId, arguments: args } = call;
    this.#calls.set(callId, call);
    // The call of a tool of the client is told when it is for the client, and one of a tool that nobody has not at all.
    if (serverId === null) return;
    const item = mcpCall(call, this.#wanted);
    const index = this.#log.add({ ...item, arguments: '' });
    this.#log.tellItem('response.mcp_call.in_progress', index, item.id);
    this.#log.tellArguments('mcp_call', index, { id: item.id, name, text: JSON.stringify(args) });
  }

  #delegate(call: SessionEventOf<'tool-call.delegated'>, time: number): void {
    const { callId, toolName: name, arguments: args } = call;
    this.#delegated.set(callId, call);
    const call_id = callIdFor(callId, this.#wanted.sessionId);
    const id = `fc_${call_id}`;
    const item = {
      type: 'function_call' as const,
      id,
      call_id,
      name,
      arguments: '',
      status: 'in_progress' as const,
    };
    const index = this.#log.add(item);
    const text = JSON.stringify(args);
    this.#log.tellArguments('function_call', index, { id, name, text });
    this.#log.end(index, { ...item, arguments: text, status: 'completed' });
    this.#pause(time);
  }

  #settle(event: ToolCallSettled, time: number): void {
    const { callId } = event;
    this.#unsettled.delete(callId);
    const call = this.#calls.get(callId);
    if (call && call.serverId !== null) this.#endCall(call, event);
    if (!this.#isCompleted) this.#pause(time);
    else if (this.#unsettled.size === 0) this.#beginNext(time);
  }

  #beginNext(time: number): void {
    const previous = responseId({ ...this.#wanted, firstStep: this.firstSteps.at(-1) ?? 1 });
    this.#begin(this.#lastStep + 1, time, previous);
    this.#start();
  }

  #endCall(call: Call, event: ToolCallSettled): void {
    const log = this.#log;
    const item = mcpCall(call, this.#wanted);
    const index = log.response.output.findIndex(({ id }) => id === item.id);
    // The call is of a response before this one.
    if (index === -1) return;
    const isDone = event.type === 'tool-call.succeeded';
    log.tellItem(`response.mcp_call.${isDone ? 'completed' : 'failed'}`, index, item.id);
    if (isDone) log.end(index, { ...item, status: 'completed', output: toolResultText(event.result) });
    else log.end(index, { ...item, status: 'failed', error: mcpError(event.reason) });
  }

  /** The response ends where only the client can go on. */
  #pause(time: number): void {
    const isForClient = [...this.#unsettled].every((callId) => this.#delegated.has(callId));
    if (this.#unsettled.size === 0 || !isForClient) return;
    this.#isCompleted = true;
    this.#tellEnd('completed', time);
  }

  #endTurn(status: 'completed' | 'incomplete' | 'failed' | 'cancelled', time: number): void {
    this.#isTurnOver = true;
    if (this.#isCompleted) return;
    if (status === 'incomplete') this.#log.response.incomplete_details = { reason: 'max_output_tokens' };
    this.#tellEnd(status, time);
  }

  #tellEnd(status: 'completed' | 'incomplete' | 'failed' | 'cancelled', time: number): void {
    const log = this.#log;
    log.response.status = status;
    log.response.completed_at = status === 'completed' ? unixSeconds(time) : null;
    // A client of OpenAI's knows no event for what was cancelled.
    log.tell(`response.${status === 'cancelled' ? 'incomplete' : status}`);
  }
}

function responseError({ code, message, details }: ErrorBody): OpenAiResponse['error'] {
  const reason = typeof details.reason === 'string' ? ` ${details.reason}` : '';
  return { code: code === 'AGENT_ERROR' ? 'server_error' : code.toLowerCase(), message: message + reason };
}

function mcpError(text: string): McpCallItem['error'] {
  return { type: 'mcp_tool_execution_error', content: [{ type: 'text', text }] };
}

function mcpCall(
  { callId, name, serverId, arguments: args }: Call,
  { sessionId }: ResponsePlace,
): McpCallItem {
  return {
    type: 'mcp_call',
    id: itemId('mcp', callId, sessionId),
    server_label: serverId ?? '',
    name,
    arguments: JSON.stringify(args),
    output: null,
    error: null,
    approval_request_id: null,
    status: 'in_progress',
  };
}
