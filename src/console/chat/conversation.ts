import type { ErrorBody } from '../../core/errors.ts';
import type { ToolResult } from '../../core/tool-call/tool.ts';
import type { TokenUsage } from '../../core/turn/reply-parts.ts';
import { stepKey, type Thought, type Thoughts } from '../service/running-step.ts';
import type { TimedEvent } from '../service/timed-event.ts';

export interface ToolCallView {
  readonly callId: string;
  readonly toolName: string;
  readonly serverId: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** `waiting` for somebody's approval. */
  readonly state: 'running' | 'waiting' | 'succeeded' | 'failed';
  /** Of the arguments, while it waits. */
  readonly argumentsHash?: string;
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
  /** Provider and model, where they are told. */
  readonly model?: string;
  readonly usage?: TokenUsage;
}

export interface TurnView {
  readonly kind: 'turn';
  readonly turnId: string;
  readonly message: string;
  readonly image?: { readonly mimeType: string; readonly bytes: number };
  /** Of its last event so far: where a fork from it would begin. */
  readonly seq: number;
  readonly requestedAt: string;
  readonly endedAt?: string;
  readonly status: 'waiting' | 'running' | 'completed' | 'failed' | 'cancelled';
  /** 2 and more: the service came back in the middle of the turn. */
  readonly attempt: number;
  readonly steps: readonly StepView[];
  /** The reply ends where a token limit cut it. */
  readonly isCut: boolean;
  readonly error?: ErrorBody;
}

/** A point between turns: the conversation was reset, or came from another session. */
export interface MarkView {
  readonly kind: 'mark';
  readonly seq: number;
  readonly text: string;
}

export type Entry = TurnView | MarkView;

/** What the page shows of these events, which may begin in the middle of the session. */
export function conversationOf(events: readonly TimedEvent[], thoughts: Thoughts): Entry[] {
  const entries = new Map<string, Entry>();
  for (const event of events) {
    const mark = markOf(event);
    if (mark) entries.set(`mark ${event.seq}`, mark);
    const { turnId } = event;
    if (turnId === undefined) continue;
    const turn = event.event === 'message' ? newTurn(turnId, event) : entries.get(turnId);
    // The message of a turn may lie before the first event that is loaded.
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
    case 'toolCall':
      return addCall(turn, { ...event.data, state: 'running', startedAt: event.time });
    case 'toolApproval':
      return changeCall(turn, event.data.callId, {
        state: 'waiting',
        argumentsHash: event.data.argumentsHash,
      });
    case 'toolApproved':
      return changeCall(turn, event.data.callId, { state: 'running', startedAt: event.time });
    case 'toolResult': {
      const { callId } = event.data;
      const outcome =
        'error' in event.data
          ? ({ state: 'failed', error: event.data.error } as const)
          : ({ state: 'succeeded', result: event.data.result } as const);
      return changeCall(turn, callId, { ...outcome, endedAt: event.time });
    }
    case 'response':
      return {
        ...turn,
        status: 'completed',
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
  const heard = thoughts.get(stepKey(turnId, step)) ?? null;
  // What was kept is whole, also where the page came later; how long it took only the page knows.
  const thought = reasoning === undefined ? heard : { text: reasoning, ms: heard?.ms ?? null };
  return { step, text, thought, calls: [], ...(model !== undefined && { model }), ...(usage && { usage }) };
}

/** The step in which the turn was cut off. */
function addPartial(turn: TurnView, text = '', thoughts: Thoughts): TurnView {
  const step = (turn.steps.at(-1)?.step ?? 0) + 1;
  const thought = thoughts.get(stepKey(turn.turnId, step)) ?? null;
  if (text === '' && !thought) return turn;
  return { ...turn, steps: [...turn.steps, { step, text, thought, calls: [] }] };
}

function addCall(turn: TurnView, call: ToolCallView): TurnView {
  const last = turn.steps.at(-1) ?? { step: 1, text: '', thought: null, calls: [] };
  const others = turn.steps.slice(0, -1);
  return { ...turn, steps: [...others, { ...last, calls: [...last.calls, call] }] };
}

function changeCall(turn: TurnView, callId: string, change: Partial<ToolCallView>): TurnView {
  const steps = turn.steps.map((step) => ({
    ...step,
    calls: step.calls.map((call) => (call.callId === callId ? { ...call, ...change } : call)),
  }));
  return { ...turn, steps };
}

function markOf(event: TimedEvent): MarkView | undefined {
  const { seq } = event;
  switch (event.event) {
    case 'reset':
      return {
        kind: 'mark',
        seq,
        text: 'The conversation was reset: the model does not see what came before',
      };
    case 'forked':
      return { kind: 'mark', seq, text: `Forked from ${event.data.from} at event ${event.data.at}` };
    default:
      return undefined;
  }
}
