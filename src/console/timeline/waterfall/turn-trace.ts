import type { TokenUsage } from '../../../core/turn/reply-parts.ts';
import type { TimedEvent } from '../../service/timed-event.ts';
import { totalUsage } from '../../ui/token-usage.ts';

/** What passed the time: the queue, the model, a tool, or a person who had to approve. */
export type SpanKind = 'queue' | 'model' | 'tool' | 'approval';
export type Outcome = 'open' | 'succeeded' | 'failed' | 'denied' | 'cancelled' | 'resumed';

/** In milliseconds since the epoch. `endMs` is null while it lasts. */
export interface Span {
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly endMs: number | null;
}

/** The wait in the queue, a model call, or a tool call with the wait for its approval. */
export interface Step {
  readonly kind: 'queue' | 'model' | 'tool';
  readonly label: string;
  /** The seqs of its events, in order. */
  readonly seqs: readonly number[];
  readonly spans: readonly Span[];
  readonly outcome: Outcome;
  readonly usage?: TokenUsage;
}

/** A turn as a sequence of steps that take time. */
export interface TurnTrace {
  readonly turnId: string;
  readonly message: string;
  /** The seq of its first event. */
  readonly seq: number;
  readonly startMs: number;
  readonly endMs: number | null;
  readonly outcome: Outcome;
  readonly steps: readonly Step[];
  /** When the events of the turn were written to the log. */
  readonly commitsMs: readonly number[];
  /** The sum over its model calls; null if none reports tokens. */
  readonly usage: TokenUsage | null;
}

/** The turns whose message is loaded, in order. */
export function tracesOf(events: readonly TimedEvent[]): TurnTrace[] {
  const builders = new Map<string, TraceBuilder>();
  for (const event of events) {
    const { turnId } = event;
    if (turnId === undefined) continue;
    if (event.event === 'message') builders.set(turnId, new TraceBuilder(turnId, event));
    else builders.get(turnId)?.add(event);
  }
  return [...builders.values()].map((builder) => builder.trace());
}

/** A wait in the queue that is shorter than this is not worth a row. */
const MIN_QUEUE_MS = 20;

type Draft = { -readonly [K in keyof Step]: Step[K] };

/** Collects the steps of one turn from its events. */
class TraceBuilder {
  readonly #first: { turnId: string; message: string; seq: number; startMs: number };
  readonly #queue: Draft;
  readonly #steps: Draft[] = [];
  readonly #calls = new Map<string, Draft>();
  readonly #commitsMs: number[] = [];
  /** Calls of the last step that have no result yet. */
  readonly #unsettled = new Set<string>();
  #model: Draft | null = null;
  #completed = 0;
  #endMs: number | null = null;
  #outcome: Outcome = 'open';

  constructor(turnId: string, event: Extract<TimedEvent, { event: 'message' }>) {
    const startMs = Date.parse(event.time);
    this.#first = { turnId, message: event.data.content, seq: event.seq, startMs };
    this.#queue = draft('queue', 'Queue', event.seq, startMs);
    this.#commitsMs.push(startMs);
  }

  add(event: TimedEvent): void {
    const { seq } = event;
    // A live event without a time has an estimated one, which may be before that of the event before it.
    const time = Math.max(Date.parse(event.time), this.#commitsMs.at(-1) ?? 0);
    this.#commitsMs.push(time);
    switch (event.event) {
      case 'thinking':
        settle(this.#queue, time, 'succeeded');
        this.#beginModelCall(seq, time);
        return;
      case 'turnResumed':
        if (this.#model) settle(this.#model, time, 'resumed');
        if (this.#unsettled.size === 0) this.#beginModelCall(seq, time);
        return;
      case 'stepCompleted':
        this.#completeStep(event, time);
        return;
      case 'outputRejected':
        this.#beginModelCall(seq, time);
        return;
      case 'response':
        this.#end(time, 'succeeded');
        return;
      case 'error':
        this.#fail(event, time);
        return;
      default:
        this.#advanceCall(event, time);
    }
  }

  trace(): TurnTrace {
    const { startMs, endMs } = this.#queue.spans[0] ?? { startMs: 0, endMs: 0 };
    const hasWaited = endMs === null || endMs - startMs >= MIN_QUEUE_MS;
    return {
      ...this.#first,
      endMs: this.#endMs,
      outcome: this.#outcome,
      steps: [...(hasWaited ? [this.#queue] : []), ...this.#steps],
      commitsMs: this.#commitsMs,
      usage: totalUsage(this.#steps.flatMap(({ usage }) => usage ?? [])),
    };
  }

  #beginModelCall(seq: number, time: number): void {
    this.#model = draft('model', `Model call ${this.#completed + 1}`, seq, time);
    this.#steps.push(this.#model);
  }

  #completeStep({ seq, data }: Extract<TimedEvent, { event: 'stepCompleted' }>, time: number): void {
    if (!this.#model) this.#beginModelCall(seq, time);
    const call = this.#model;
    this.#model = null;
    this.#completed = data.step;
    for (const callId of data.callIds) this.#unsettled.add(callId);
    if (!call) return;
    settle(call, time, 'succeeded');
    call.seqs = [...new Set([...call.seqs, seq])];
    if (data.usage) call.usage = data.usage;
  }

  #advanceCall(event: TimedEvent, time: number): void {
    const { seq } = event;
    if (event.event === 'toolCall') {
      const { callId, toolName } = event.data;
      const call = draft('tool', toolName, seq, time);
      this.#calls.set(callId, call);
      this.#steps.push(call);
      return;
    }
    const callId = 'callId' in event.data ? event.data.callId : undefined;
    const call = callId === undefined ? undefined : this.#calls.get(callId);
    if (!call || callId === undefined) return;
    call.seqs = [...call.seqs, seq];
    if (event.event === 'toolApproval') call.spans = [span('approval', time)];
    if (event.event === 'toolApproved') call.spans = [...closed(call.spans, time), span('tool', time)];
    if (event.event !== 'toolResult') return;
    settle(call, time, 'error' in event.data ? failureOf(event) : 'succeeded');
    this.#unsettled.delete(callId);
    if (this.#unsettled.size === 0 && !endsWithTurn(event)) this.#beginModelCall(seq, time);
  }

  #fail(event: Extract<TimedEvent, { event: 'error' }>, time: number): void {
    const [first, second] = this.#model?.spans ?? [];
    const hasNotBegun = event.cause?.kind === 'step-limit' || (first?.startMs === time && !second);
    if (this.#model && hasNotBegun) this.#steps.splice(this.#steps.indexOf(this.#model), 1);
    this.#end(time, event.data.code === 'TURN_CANCELLED' ? 'cancelled' : 'failed');
  }

  #end(time: number, outcome: Outcome): void {
    for (const step of [this.#queue, ...this.#steps])
      if (step.outcome === 'open') settle(step, time, outcome);
    this.#endMs = time;
    this.#outcome = outcome;
  }
}

function draft(kind: Step['kind'], label: string, seq: number, startMs: number): Draft {
  return { kind, label, seqs: [seq], spans: [span(kind, startMs)], outcome: 'open' };
}

function span(kind: SpanKind, startMs: number): Span {
  return { kind, startMs, endMs: null };
}

function settle(step: Draft, endMs: number, outcome: Outcome): void {
  step.spans = closed(step.spans, endMs);
  step.outcome = outcome;
}

function closed(spans: readonly Span[], endMs: number): Span[] {
  return spans.map((one) => (one.endMs === null ? { ...one, endMs } : one));
}

/** Whether the call ended because its turn did. No model call follows then. */
function endsWithTurn({ cause }: TimedEvent): boolean {
  return cause?.kind === 'turn-cancelled' || cause?.kind === 'turn-failed';
}

function failureOf({ cause }: TimedEvent): Outcome {
  if (cause?.kind === 'denied') return 'denied';
  return cause?.kind === 'turn-cancelled' ? 'cancelled' : 'failed';
}
