import type { ErrorBody } from '../../contract/errors.ts';
import type { ToolResult } from '../../contract/tool.ts';
import type { TimedEvent } from '../service/session-feed.ts';

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
  readonly calls: readonly ToolCallView[];
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
export function conversationOf(events: readonly TimedEvent[]): Entry[] {
  const entries = new Map<string, Entry>();
  for (const event of events) {
    const mark = markOf(event);
    if (mark) entries.set(`mark ${event.seq}`, mark);
    const { turnId } = event;
    if (turnId === undefined) continue;
    const turn = event.event === 'message' ? newTurn(turnId, event) : entries.get(turnId);
    // The message of a turn may lie before the first event that is loaded.
    if (turn?.kind === 'turn') entries.set(turnId, { ...advance(turn, event), seq: event.seq });
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
  };
}

function advance(turn: TurnView, event: TimedEvent): TurnView {
  switch (event.event) {
    case 'thinking':
      return { ...turn, status: 'running' };
    case 'turnResumed':
      return { ...turn, status: 'running', attempt: event.data.attempt };
    case 'stepCompleted': {
      const { step, content: text } = event.data;
      return { ...turn, steps: [...turn.steps, { step, text, calls: [] }] };
    }
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
      return { ...turn, status: 'completed', endedAt: event.time };
    case 'error': {
      const status = event.data.code === 'TURN_CANCELLED' ? 'cancelled' : 'failed';
      return { ...addPartial(turn, event.partial), status, error: event.data, endedAt: event.time };
    }
    default:
      return turn;
  }
}

function addPartial(turn: TurnView, partial = ''): TurnView {
  if (partial === '') return turn;
  const step = (turn.steps.at(-1)?.step ?? 0) + 1;
  return { ...turn, steps: [...turn.steps, { step, text: partial, calls: [] }] };
}

function addCall(turn: TurnView, call: ToolCallView): TurnView {
  const last = turn.steps.at(-1) ?? { step: 1, text: '', calls: [] };
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
