import { type ErrorBody, ServiceError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json-object.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { SessionEvent, SessionEventOf, ToolCallSettled } from '../../core/log/events.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { callIdsOf } from '../../core/turn/step-parts.ts';
import {
  type AgUiEvent,
  type AgUiSession,
  PROTOCOL_VERSION,
  runError,
  type ThreadMessage,
} from './ag-ui-events.ts';
import { interruptId, interruptsOf } from './interrupts.ts';
import { resultMessageId } from './message-ids.ts';
import { asPageHas } from './page-messages.ts';
import { questionId } from './question-interrupts.ts';
import { resultContent } from './result-content.ts';
import type { RunInput } from './run-input.ts';
import { RunUsage } from './run-usage.ts';
import { ThreadMessages } from './thread-messages.ts';
import { ToldStep } from './told-step.ts';
import { AgUiTurnState } from './turn-state.ts';

/** What a run tells: all that comes after a position in the log, until the turn ends or only the client can go on. */
export interface RunPlan {
  /** The turn up to that position; null if no turn is open, so that nothing follows. */
  readonly turn: AgUiTurnState | null;
  /** Seq of the last event before what is told. */
  readonly afterSeq: number;
  /**
   * What the run has decided or answered, with the ids that interrupts have; calls of tools of the client have such ids,
   * too. The run does not end before these are in the log.
   */
  readonly decided: readonly string[];
  /** The messages of the thread, for a client that does not know them. */
  readonly thread?: readonly ThreadMessage[];
  /** What of the input was left out, for people. */
  readonly warnings: readonly string[];
}

type Input = Pick<RunInput, 'threadId' | 'runId' | 'parentRunId' | 'messages' | 'state'>;

/** The events of one run, from what a reader of the session gets. */
export class RunEvents {
  readonly #input: Input;
  readonly #plan: RunPlan;
  readonly #turn: AgUiTurnState;
  readonly #tell: (event: AgUiEvent) => void;
  readonly #step: ToldStep;
  readonly #usage = new RunUsage();
  /** What the run has added to the messages of the client. */
  readonly #told: ThreadMessages;
  readonly #undecided: Set<string>;
  #session: AgUiSession;
  #isOver = false;
  /** Calls of the step whose request has not come yet. */
  #unasked = 0;

  constructor(input: Input, plan: RunPlan, tell: (event: AgUiEvent) => void) {
    this.#input = input;
    this.#plan = plan;
    this.#turn = plan.turn ?? new AgUiTurnState('');
    this.#tell = tell;
    this.#step = new ToldStep(this.#turn.turnId, keptMessages(input, plan), tell);
    this.#told = new ThreadMessages(this.#turn.attempt);
    this.#undecided = new Set(plan.decided);
    this.#session = {
      id: input.threadId,
      turnId: plan.turn?.turnId ?? null,
      status: 'idle',
      head: plan.afterSeq,
      approvals: this.#turn.approvals,
      inputs: this.#turn.inputs,
    };
  }

  /** Nothing follows. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Call it first. */
  begin(): void {
    const { threadId, runId, parentRunId, state } = this.#input;
    const { turn, thread, warnings } = this.#plan;
    this.#tell({
      type: 'RUN_STARTED',
      threadId,
      runId,
      protocolVersion: PROTOCOL_VERSION,
      ...(parentRunId !== undefined && { parentRunId }),
    });
    for (const value of warnings) this.#tell({ type: 'CUSTOM', name: 'warning', value });
    if (thread) this.#tellMessages(thread);
    this.#session = { ...this.#session, status: this.#status };
    if (isObject(state))
      this.#tell({ type: 'STATE_SNAPSHOT', snapshot: { ...state, session: this.#session } });
    if (!turn) this.#finish({ type: 'success' });
    else if (turn.isInStep) this.#step.begin(turn.step + 1, turn.attempt);
    this.#pause();
  }

  take(signal: SessionSignal): void {
    if (this.#isOver) return;
    if ('event' in signal) {
      if ('turnId' in signal.event && signal.event.turnId === this.#turn.turnId) this.#take(signal);
    } else if (signal.type === 'reply.chunk' && signal.turnId === this.#turn.turnId) {
      const separator = this.#turn.separatorLength;
      this.#step.say(signal.content.slice(Math.max(0, separator - signal.offset)));
    } else if (signal.type === 'reply.reasoning' && signal.turnId === this.#turn.turnId) {
      this.#step.think(signal.content);
    }
  }

  /** Ends the run with an error. */
  fail(error: ErrorBody): void {
    if (this.#isOver) return;
    this.#step.end();
    this.#isOver = true;
    this.#tell({ ...runError(error), ...this.#usageField });
  }

  #take(envelope: Envelope): void {
    const { event, seq } = envelope;
    this.#turn.take(envelope);
    this.#session = { ...this.#session, head: seq };
    this.#event(event);
    if (event.type !== 'turn.requested' && event.type !== 'turn.started') this.#told.take(envelope);
    this.#pause();
  }

  #event(event: SessionEvent): void {
    switch (event.type) {
      case 'turn.started':
        this.#begin(1);
        return;
      case 'turn.resumed':
        this.#beginAgain();
        return;
      case 'step.completed':
        this.#completeStep(event);
        return;
      case 'output.rejected':
        this.#begin(event.step + 1);
        return;
      case 'tool-call.requested':
        this.#callTool(event);
        return;
      case 'approval.granted':
        this.#undecided.delete(interruptId(event));
        this.#tellState();
        return;
      case 'input.answered':
        this.#undecided.delete(questionId(event));
        this.#tellState();
        return;
      case 'tool-call.succeeded':
      case 'tool-call.failed':
      case 'tool-call.interrupted':
        this.#settle(event);
        return;
      case 'turn.completed':
        this.#step.end();
        this.#finish({ type: 'success' }, event.finishReason && { finishReason: event.finishReason });
        return;
      case 'turn.failed':
        this.#step.end();
        this.#tellState();
        this.fail(event.error);
        return;
      case 'turn.cancelled':
        this.#step.end();
        this.#finish({ type: 'cancelled' }, { reason: event.reason });
        return;
      default:
    }
  }

  #begin(step: number): void {
    this.#step.begin(step, this.#turn.attempt);
    this.#tellState();
  }

  /** What was said of the step was lost with the process that heard it. */
  #beginAgain(): void {
    const { hasTold } = this.#step;
    if (this.#turn.isInStep) this.#step.beginMessage(this.#turn.step + 1, this.#turn.attempt);
    if (!hasTold) return;
    const before = this.#plan.thread ?? this.#input.messages;
    this.#tellMessages([...before, ...this.#told.all]);
  }

  #tellMessages(messages: Parameters<typeof asPageHas>[0]): void {
    this.#tell({ type: 'MESSAGES_SNAPSHOT', messages: asPageHas(messages, this.#input.messages) });
  }

  #completeStep(event: SessionEventOf<'step.completed'>): void {
    this.#usage.add(event);
    this.#unasked = callIdsOf(event.parts).length;
    if (this.#unasked === 0) this.#step.end();
    else this.#step.endMessage();
  }

  #callTool({ callId, name, arguments: args }: SessionEventOf<'tool-call.requested'>): void {
    const parentMessageId = this.#step.messageId;
    this.#tell({ type: 'TOOL_CALL_START', toolCallId: callId, toolCallName: name, parentMessageId });
    this.#tell({ type: 'TOOL_CALL_ARGS', toolCallId: callId, delta: JSON.stringify(args) });
    this.#tell({ type: 'TOOL_CALL_END', toolCallId: callId });
    this.#unasked -= 1;
    if (this.#unasked === 0) this.#step.end();
  }

  #settle(event: ToolCallSettled): void {
    const { callId, turnId } = event;
    this.#undecided.delete(interruptId(event));
    // The result of a tool of the client is for the client to tell.
    if (!this.#turn.isOfClient(callId))
      this.#tell({
        type: 'TOOL_CALL_RESULT',
        messageId: resultMessageId(turnId, callId),
        toolCallId: callId,
        role: 'tool',
        content: resultContent(event),
      });
    if (this.#turn.isInStep && !endsTurn(event)) this.#begin(this.#turn.step + 1);
    else this.#tellState();
  }

  /** The run ends where only the client, or somebody who approves or answers, can go on. */
  #pause(): void {
    if (this.#isOver || !this.#turn.isPaused || this.#undecided.size > 0) return;
    const interrupts = interruptsOf(this.#turn);
    if (interrupts.length > 0) this.#finish({ type: 'interrupt', interrupts });
    else this.#finish({ type: 'success', pendingToolCallIds: this.#turn.clientCalls });
  }

  #finish(outcome: Extract<AgUiEvent, { type: 'RUN_FINISHED' }>['outcome'], metadata?: object): void {
    this.#tellState();
    this.#isOver = true;
    const { threadId, runId } = this.#input;
    this.#tell({
      type: 'RUN_FINISHED',
      threadId,
      runId,
      outcome,
      ...this.#usageField,
      ...(metadata && { metadata }),
    });
  }

  get #usageField(): object {
    const usage = this.#usage.entries;
    return usage.length > 0 ? { usage } : {};
  }

  get #status(): AgUiSession['status'] {
    if (!this.#plan.turn || this.#turn.status === 'over') return 'idle';
    if (this.#turn.isPaused) return 'waiting';
    return this.#turn.status === 'queued' ? 'queued' : 'running';
  }

  #tellState(): void {
    if (!isObject(this.#input.state)) return;
    const { status, approvals, inputs } = this.#session;
    const now = {
      status: this.#status,
      head: this.#session.head,
      approvals: this.#turn.approvals,
      inputs: this.#turn.inputs,
    };
    this.#session = { ...this.#session, ...now };
    const isAsTold = JSON.stringify([now.approvals, now.inputs]) === JSON.stringify([approvals, inputs]);
    if (now.status === status && isAsTold) return;
    const delta = Object.entries(now).map(([field, value]) => ({
      op: 'replace' as const,
      path: `/session/${field}`,
      value,
    }));
    this.#tell({ type: 'STATE_DELTA', delta });
  }
}

/** What the client keeps of its messages: a snapshot replaces them, apart from reasoning if it has none. */
function keptMessages({ messages }: Input, { thread = [] }: RunPlan): Input['messages'] {
  return thread.some(({ role }) => role === 'reasoning') ? [] : messages;
}

/** The state that a client does not send, or sends as null, is empty. */
function isObject(state: unknown): state is object | null | undefined {
  return isJsonObject(state ?? {});
}

/** Whether the call was settled only because its turn ends. */
function endsTurn(event: ToolCallSettled): boolean {
  if (event.type === 'tool-call.succeeded') return false;
  const { kind } = event.cause;
  return kind === 'turn-cancelled' || kind === 'turn-failed';
}

/** The run of a session that was deleted meanwhile. */
export function sessionDeleted(threadId: string): ServiceError {
  return new ServiceError('SESSION_NOT_FOUND', 'The session was deleted.', { sessionId: threadId });
}
