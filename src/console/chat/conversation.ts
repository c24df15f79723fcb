import type { ErrorBody } from '../../core/errors.ts';
import type { ToolResult } from '../../core/tool-call/tool.ts';
import type { TokenUsage } from '../../core/turn/reply-parts.ts';
import { stepKey, type Thought, type Thoughts } from '../service/running-step.ts';
import type { TimedEvent } from '../service/timed-event.ts';
import { actorText } from '../ui/event-origin.ts';

export type QuestionView = Extract<TimedEvent, { event: 'inputRequired' }>['data'];

export interface ToolCallView {
  readonly callId: string;
  readonly toolName: string;
  readonly serverId: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** `waiting`: for approval. `interrupted`: the service stopped, and nobody knows whether the call took effect. */
  readonly state: 'running' | 'waiting' | 'succeeded' | 'failed' | 'denied' | 'cancelled' | 'interrupted';
  /** The hash of the arguments; present once the call waits for approval. */
  readonly argumentsHash?: string;
  /** Whether the tool is a client's, which runs the call. */
  readonly isClients?: boolean;
  /** What the server of the call asks. Absent if there is nothing. */
  readonly questions?: readonly QuestionView[];
  /** Who approved or denied the call, such as `approved by a client`. */
  readonly decision?: string;
  readonly result?: ToolResult;
  readonly error?: string;
  readonly startedAt: string;
  readonly endedAt?: string;
}

export interface StepView {
  readonly step: number;
  readonly text: string;
  readonly thought: Thought | null;
  readonly calls: readonly ToolCallView[];
  /** Why the text does not fit the schema that was asked for. Absent if it does, or if none was. */
  readonly issue?: string;
  /** Provider and model. Absent when the log does not name them. */
  readonly model?: string;
  readonly usage?: TokenUsage;
}

export interface TurnView {
  readonly kind: 'turn';
  readonly turnId: string;
  readonly message: string;
  readonly image?: { readonly mimeType: string; readonly bytes: number };
  /** The seq of the message. */
  readonly firstSeq: number;
  /** The seq of the turn's last event so far. A fork of the turn keeps everything up to it. */
  readonly seq: number;
  readonly requestedAt: string;
  readonly endedAt?: string;
  readonly status: 'waiting' | 'running' | 'completed' | 'failed' | 'cancelled';
  /** 2 or more when the turn was resumed after a restart of the service. */
  readonly attempt: number;
  readonly steps: readonly StepView[];
  /** A token limit cut the reply. */
  readonly isCut: boolean;
  /** The whole reply of a completed turn. Steps may have more text, such as one that was asked for again. */
  readonly reply?: string;
  readonly error?: ErrorBody;
}

/** A line between turns: the conversation was reset, or the session was forked. */
export interface MarkView {
  readonly kind: 'mark';
  readonly seq: number;
  readonly text: string;
}

export type Entry = TurnView | MarkView;

/** The entries that the page shows. The events may begin in the middle of the session. */
export function conversationOf(events: readonly TimedEvent[], thoughts: Thoughts): Entry[] {
  const entries = new Map<string, Entry>();
  for (const event of events) {
    const mark = markOf(event);
    if (mark) entries.set(`mark ${event.seq}`, mark);
    const { turnId } = event;
    if (turnId === undefined) continue;
    const turn = event.event === 'message' ? newTurn(turnId, event) : entries.get(turnId);
    // A turn whose message is not loaded is not shown.
    if (turn?.kind === 'turn') entries.set(turnId, { ...advance(turn, event, thoughts), seq: event.seq });
  }
  return [...entries.values()];
}

function newTurn(turnId: string, event: Extract<TimedEvent, { event: 'message' }>): TurnView {
  const { seq, time, data } = event;
  return {
    kind: 'turn',
    turnId,
    message: data.content,
    ...(data.image && { image: data.image }),
    firstSeq: seq,
    seq,
    requestedAt: time,
    status: 'waiting',
    attempt: 1,
    steps: [],
    isCut: false,
  };
}

function advance(turn: TurnView, event: TimedEvent, thoughts: Thoughts): TurnView {
  switch (event.event) {
    case 'thinking':
      return { ...turn, status: 'running' };
    case 'turnResumed':
      return { ...turn, status: 'running', attempt: event.data.attempt };
    case 'stepCompleted':
      return { ...turn, steps: [...turn.steps, stepOf(turn.turnId, event.data, thoughts)] };
    case 'outputRejected': {
      const { step: rejected, issue } = event.data;
      const steps = turn.steps.map((step) => (step.step === rejected ? { ...step, issue } : step));
      return { ...turn, steps };
    }
    case 'toolCall':
      return addCall(turn, { ...event.data, state: 'running', startedAt: event.time });
    case 'toolApproval':
      return changeCall(turn, event.data.callId, {
        state: 'waiting',
        argumentsHash: event.data.argumentsHash,
      });
    case 'toolApproved':
      return changeCall(turn, event.data.callId, {
        state: 'running',
        startedAt: event.time,
        ...decisionOf('approved', event),
      });
    case 'clientToolCall':
      return changeCall(turn, event.data.callId, { isClients: true });
    case 'inputRequired': {
      const asked = event.data;
      return changeCall(turn, asked.callId, ({ questions = [] }) => ({ questions: [...questions, asked] }));
    }
    case 'inputAnswered': {
      const { callId, inputId } = event.data;
      return changeCall(turn, callId, ({ questions = [] }) => ({
        questions: questions.filter((asked) => asked.inputId !== inputId),
      }));
    }
    case 'toolResult': {
      const { callId } = event.data;
      const outcome =
        event.data.error !== undefined
          ? { state: stateOf(event.cause), error: event.data.error }
          : { state: 'succeeded' as const, result: event.data.result };
      const decision = event.cause?.kind === 'denied' && decisionOf('denied', event);
      return changeCall(turn, callId, { ...outcome, endedAt: event.time, ...decision });
    }
    case 'response':
      return {
        ...turn,
        status: 'completed',
        reply: event.data.content,
        isCut: event.data.finishReason === 'length',
        endedAt: event.time,
      };
    case 'error': {
      const status = event.data.code === 'TURN_CANCELLED' ? 'cancelled' : 'failed';
      return { ...addPartial(turn, event.partial, thoughts), status, error: event.data, endedAt: event.time };
    }
    default:
      return turn;
  }
}

type CompletedStep = Extract<TimedEvent, { event: 'stepCompleted' }>['data'];

function stepOf(turnId: string, data: CompletedStep, thoughts: Thoughts): StepView {
  const { step, content: text, reasoning, model, usage } = data;
  const streamed = thoughts.get(stepKey(turnId, step)) ?? null;
  // The log has the whole reasoning. Only a page that watched the step knows how long it took.
  const thought = reasoning === undefined ? streamed : { text: reasoning, ms: streamed?.ms ?? null };
  return { step, text, thought, calls: [], ...(model !== undefined && { model }), ...(usage && { usage }) };
}

/** Adds the unfinished step of a turn that failed or was cancelled. */
function addPartial(turn: TurnView, text = '', thoughts: Thoughts): TurnView {
  const step = (turn.steps.at(-1)?.step ?? 0) + 1;
  const thought = thoughts.get(stepKey(turn.turnId, step)) ?? null;
  if (text === '' && !thought) return turn;
  return { ...turn, steps: [...turn.steps, { step, text, thought, calls: [] }] };
}

const statesOfCauses: Readonly<Record<string, ToolCallView['state']>> = {
  denied: 'denied',
  'turn-cancelled': 'cancelled',
  'turn-failed': 'cancelled',
  'service-stopped': 'interrupted',
};

/** The state of a call that has no result. The log of 0.1.0 has no causes. */
function stateOf(cause: TimedEvent['cause']): ToolCallView['state'] {
  return statesOfCauses[cause?.kind ?? ''] ?? 'failed';
}

function decisionOf(decision: 'approved' | 'denied', { actor }: TimedEvent): Pick<ToolCallView, 'decision'> {
  return actor ? { decision: `${decision} ${actorText(actor)}` } : {};
}

function addCall(turn: TurnView, call: ToolCallView): TurnView {
  const last = turn.steps.at(-1) ?? { step: 1, text: '', thought: null, calls: [] };
  const others = turn.steps.slice(0, -1);
  return { ...turn, steps: [...others, { ...last, calls: [...last.calls, call] }] };
}

type Change = Partial<ToolCallView>;

function changeCall(
  turn: TurnView,
  callId: string,
  change: Change | ((call: ToolCallView) => Change),
): TurnView {
  const changed = (call: ToolCallView): ToolCallView => ({
    ...call,
    ...(typeof change === 'function' ? change(call) : change),
  });
  const steps = turn.steps.map((step) => ({
    ...step,
    calls: step.calls.map((call) => (call.callId === callId ? changed(call) : call)),
  }));
  return { ...turn, steps };
}

/** Whether the call goes on only when somebody answers: approves it, says what came of it, or tells the server something. */
export function isForPeople({ state, isClients = false, questions = [] }: ToolCallView): boolean {
  return state === 'waiting' || (state === 'running' && (isClients || questions.length > 0));
}

function markOf(event: TimedEvent): MarkView | undefined {
  const { seq } = event;
  switch (event.event) {
    case 'reset':
      return {
        kind: 'mark',
        seq,
        text: 'The conversation was reset. The model does not see what came before.',
      };
    case 'forked':
      return { kind: 'mark', seq, text: `Forked from ${event.data.from} at event ${event.data.at}` };
    default:
      return undefined;
  }
}
