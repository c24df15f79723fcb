import { type ActorRefFrom, createActor } from 'xstate';
import { type TurnContext, turnMachine } from '../../../../machines/turn.machine.ts';
import type { StateValue } from '../../../core/machine-state.ts';
import type { TimedEvent } from '../../service/timed-event.ts';
import { eventLabel, START_EVENT } from '../chart/chart.ts';
import { factOf, isCancellation, isCancelledCall, isLimitFailure, isLostCall } from './turn-facts.ts';

/** The part of the machine's context that follows from the log. The limits do not. */
export interface ReplayContext {
  readonly step: number;
  readonly unsettled: readonly string[];
  readonly awaiting: readonly string[];
  readonly delegated: readonly string[];
  readonly asking: readonly string[];
}

/** One moment of a past turn. */
export interface ReplayFrame {
  /** 0, 1, 2 … */
  readonly number: number;
  /** Null for a signal: it is not in the log, but the machine must have received it. */
  readonly recorded: TimedEvent | null;
  /** Type of the event that the machine received; null for a recorded event that it does not receive. */
  readonly event: string | null;
  readonly before: StateValue | null;
  /** Null before the turn has begun. */
  readonly after: StateValue | null;
  readonly context: ReplayContext | null;
}

/** The machine's name for the event, or the client's name when the machine does not receive it. */
export function momentLabel({ event, recorded }: ReplayFrame): string {
  return event === null ? (recorded?.event ?? '') : eventLabel(event);
}

/** Replays the recorded events of a turn, in order, with the turn machine itself. Nobody performs the effects that it emits. */
export function replayTurn(turnId: string, events: readonly TimedEvent[]): ReplayFrame[] {
  const replay = new TurnReplay(turnId, events);
  events.forEach((event, index) => {
    replay.add(event, index);
  });
  return replay.end();
}

type Signal = 'turn.prepared' | 'step.streaming' | 'step.timedOut' | 'CANCEL';

class TurnReplay {
  readonly #turnId: string;
  readonly #events: readonly TimedEvent[];
  readonly #maxSteps: number;
  readonly #cancelledAt: number;
  readonly #frames: ReplayFrame[] = [];
  #actor: ActorRefFrom<typeof turnMachine> | null = null;
  #completedSteps = 0;
  /** Whether the last step was refused. */
  #isAskedAgain = false;

  constructor(turnId: string, events: readonly TimedEvent[]) {
    this.#turnId = turnId;
    this.#events = events;
    this.#maxSteps = maxStepsOf(events);
    this.#cancelledAt = cancelledAt(events);
  }

  add(event: TimedEvent, index: number): void {
    if (event.event === 'thinking') this.#start(event, []);
    else if (event.event === 'turnResumed') this.#start(event, lostCallsAfter(this.#events, index));
    else if (this.#actor) this.#send(this.#actor, event, index);
    else this.#addFrame(event, null, null);
  }

  end(): ReplayFrame[] {
    this.#actor?.stop();
    return this.#frames;
  }

  /** @param lostCalls Ids of the calls that the service no longer counts as open when it resumes the turn. */
  #start(event: TimedEvent, lostCalls: readonly string[]): void {
    const { unsettled = [], awaiting = [], delegated = [] } = this.#actor?.getSnapshot().context ?? {};
    this.#actor?.stop();
    this.#actor = createActor(turnMachine, {
      input: {
        turnId: this.#turnId,
        sessionId: '',
        step: this.#completedSteps,
        maxSteps: this.#maxSteps,
        stepTimeoutMs: Number.POSITIVE_INFINITY,
        unsettled: unsettled.filter((callId) => !lostCalls.includes(callId)),
        awaiting,
        delegated,
        // The connections to the servers that had asked are gone.
        asking: [],
        ...(this.#isAskedAgain && { isAskedAgain: true as const }),
      },
    }).start();
    this.#addFrame(event, START_EVENT, null);
  }

  #send(actor: ActorRefFrom<typeof turnMachine>, event: TimedEvent, index: number): void {
    const fact = factOf(this.#turnId, event, actor.getSnapshot().context.awaiting);
    if (!fact) {
      this.#addFrame(event, null, this.#value);
      return;
    }
    for (const signal of this.#signalsBefore(event, index)) {
      const before = this.#value;
      actor.send({ type: signal });
      this.#addFrame(null, signal, before);
    }
    const before = this.#value;
    actor.send(fact);
    if (event.event === 'stepCompleted') this.#completedSteps = event.data.step;
    if (event.event === 'stepCompleted' || event.event === 'outputRejected')
      this.#isAskedAgain = event.event === 'outputRejected';
    this.#addFrame(event, fact.type, before);
  }

  /** The signals that the machine must have received before the event. The log holds only facts. */
  *#signalsBefore(event: TimedEvent, index: number): Generator<Signal> {
    if (this.#value === 'preparing' && !isLostCall(event)) yield 'turn.prepared';
    if (this.#isThinking && hasText(event)) yield 'step.streaming';
    if (index === this.#cancelledAt) yield 'CANCEL';
    if (isLimitFailure(event, 'step-timeout')) yield 'step.timedOut';
  }

  get #value(): StateValue | null {
    return this.#actor?.getSnapshot().value ?? null;
  }

  get #isThinking(): boolean {
    return this.#actor?.getSnapshot().matches({ callingModel: 'thinking' }) ?? false;
  }

  #addFrame(recorded: TimedEvent | null, event: string | null, before: StateValue | null): void {
    const { value: after = null, context } = this.#actor?.getSnapshot() ?? {};
    const known = context ? shownContext(context) : null;
    this.#frames.push({ number: this.#frames.length, recorded, event, before, after, context: known });
  }
}

function shownContext(context: TurnContext): ReplayFrame['context'] {
  const { step, unsettled, awaiting, delegated, asking } = context;
  return { step, unsettled, awaiting, delegated, asking };
}

/** The log shows the limit only when the turn has reached it. */
function maxStepsOf(events: readonly TimedEvent[]): number {
  const steps = events.filter(({ event }) => event === 'stepCompleted').length;
  return isLimitFailure(events.at(-1), 'step-limit') ? steps : Number.POSITIVE_INFINITY;
}

/** Index of the first event that a cancel caused, or -1. Cancelled calls are recorded before the end of the turn. */
function cancelledAt(events: readonly TimedEvent[]): number {
  const end = events.findIndex(isCancellation);
  if (end === -1) return -1;
  return events.slice(0, end).findLastIndex((event) => !isCancelledCall(event)) + 1;
}

/** Ids of the calls that were lost in the stop of the service. They are recorded right after `turnResumed`. */
function lostCallsAfter(events: readonly TimedEvent[], resumed: number): string[] {
  const rest = events.slice(resumed + 1);
  const end = rest.findIndex((event) => !isLostCall(event));
  return rest
    .slice(0, end === -1 ? undefined : end)
    .flatMap((event) => (event.event === 'toolResult' ? [event.data.callId] : []));
}

function hasText(event: TimedEvent): boolean {
  if (event.event === 'stepCompleted') return event.data.content !== '';
  return event.event === 'error' && (event.partial ?? '') !== '';
}
