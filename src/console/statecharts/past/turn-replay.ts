import { type ActorRefFrom, createActor } from 'xstate';
import { turnMachine } from '../../../../machines/turn.machine.ts';
import type { StateValue } from '../../../core/machine-state.ts';
import type { TimedEvent } from '../../service/timed-event.ts';
import { eventLabel, START_EVENT } from '../chart/chart.ts';
import { endedBy, endedByCancel, endedByStop, factOf, isCancel } from './turn-facts.ts';

/** Of a machine's context what the log knows; the limits are not in it. */
export interface ReplayContext {
  readonly step: number;
  readonly unsettled: readonly string[];
  readonly awaiting: readonly string[];
}

/** One moment of a turn of the past. */
export interface ReplayFrame {
  /** 0, 1, 2 … */
  readonly number: number;
  /** Null for what happened but is not in the log: the machine's states say that it must have. */
  readonly recorded: TimedEvent | null;
  /** What the machine was told; null for events that it is not told of. */
  readonly event: string | null;
  readonly before: StateValue | null;
  /** Null before the turn has begun. */
  readonly after: StateValue | null;
  readonly context: ReplayContext | null;
}

/** What a moment is called: as the machine was told of it, or else as the client was. */
export function momentLabel({ event, recorded }: ReplayFrame): string {
  return event === null ? (recorded?.event ?? '') : eventLabel(event);
}

/** Drives the turn machine itself, without its effects, by what was recorded of one turn, in order. */
export function replayTurn(turnId: string, events: readonly TimedEvent[]): ReplayFrame[] {
  const replay = new TurnReplay(turnId, events);
  events.forEach((event, index) => {
    replay.take(event, index);
  });
  return replay.end();
}

type Moment = 'turn.prepared' | 'step.streaming' | 'step.timedOut' | 'CANCEL';

class TurnReplay {
  readonly #turnId: string;
  readonly #events: readonly TimedEvent[];
  readonly #maxSteps: number;
  readonly #cancelledAt: number;
  readonly #frames: ReplayFrame[] = [];
  #actor: ActorRefFrom<typeof turnMachine> | null = null;
  #completedSteps = 0;

  constructor(turnId: string, events: readonly TimedEvent[]) {
    this.#turnId = turnId;
    this.#events = events;
    this.#maxSteps = maxStepsOf(events);
    this.#cancelledAt = cancelledAt(events);
  }

  take(event: TimedEvent, index: number): void {
    if (event.event === 'thinking') this.#start(event, []);
    else if (event.event === 'turnResumed') this.#start(event, interruptedAfter(this.#events, index));
    else if (this.#actor) this.#tell(this.#actor, event, index);
    else this.#note(event, null, null);
  }

  end(): ReplayFrame[] {
    this.#actor?.stop();
    return this.#frames;
  }

  #start(event: TimedEvent, interrupted: readonly string[]): void {
    const { unsettled = [], awaiting = [] } = this.#actor?.getSnapshot().context ?? {};
    this.#actor?.stop();
    this.#actor = createActor(turnMachine, {
      input: {
        turnId: this.#turnId,
        sessionId: '',
        step: this.#completedSteps,
        maxSteps: this.#maxSteps,
        stepTimeoutMs: Number.POSITIVE_INFINITY,
        unsettled: unsettled.filter((callId) => !interrupted.includes(callId)),
        awaiting,
      },
    }).start();
    this.#note(event, START_EVENT, null);
  }

  #tell(actor: ActorRefFrom<typeof turnMachine>, event: TimedEvent, index: number): void {
    const fact = factOf(this.#turnId, event, actor.getSnapshot().context.awaiting);
    if (!fact) {
      this.#note(event, null, this.#value);
      return;
    }
    for (const moment of this.#momentsBefore(event, index)) {
      const before = this.#value;
      actor.send({ type: moment });
      this.#note(null, moment, before);
    }
    const before = this.#value;
    actor.send(fact);
    if (event.event === 'stepCompleted') this.#completedSteps = event.data.step;
    this.#note(event, fact.type, before);
  }

  /** The log holds facts only: these were signals, and without them the fact could not have become true. */
  *#momentsBefore(event: TimedEvent, index: number): Generator<Moment> {
    if (this.#value === 'preparing' && !endedByStop(event)) yield 'turn.prepared';
    if (this.#isThinking && hasText(event)) yield 'step.streaming';
    if (index === this.#cancelledAt) yield 'CANCEL';
    if (endedBy(event, 'step-timeout')) yield 'step.timedOut';
  }

  get #value(): StateValue | null {
    return this.#actor?.getSnapshot().value ?? null;
  }

  get #isThinking(): boolean {
    return this.#actor?.getSnapshot().matches({ callingModel: 'thinking' }) ?? false;
  }

  #note(recorded: TimedEvent | null, event: string | null, before: StateValue | null): void {
    const { value: after = null, context } = this.#actor?.getSnapshot() ?? {};
    const { step, unsettled, awaiting } = context ?? {};
    const known = step !== undefined && unsettled && awaiting ? { step, unsettled, awaiting } : null;
    this.#frames.push({ number: this.#frames.length, recorded, event, before, after, context: known });
  }
}

/** The limit is known only of a turn that it has ended. */
function maxStepsOf(events: readonly TimedEvent[]): number {
  const steps = events.filter(({ event }) => event === 'stepCompleted').length;
  return endedBy(events.at(-1), 'step-limit') ? steps : Number.POSITIVE_INFINITY;
}

/** Index of the first event that came of a cancel: the calls that it ended are recorded before the turn's own end. */
function cancelledAt(events: readonly TimedEvent[]): number {
  const end = events.findIndex(isCancel);
  if (end === -1) return -1;
  return events.slice(0, end).findLastIndex((event) => !endedByCancel(event)) + 1;
}

/** The calls of which nobody knows how they ended, as the service said when it came back. */
function interruptedAfter(events: readonly TimedEvent[], resumed: number): string[] {
  const rest = events.slice(resumed + 1);
  const end = rest.findIndex((event) => !endedByStop(event));
  return rest
    .slice(0, end === -1 ? undefined : end)
    .flatMap((event) => (event.event === 'toolResult' ? [event.data.callId] : []));
}

function hasText(event: TimedEvent): boolean {
  if (event.event === 'stepCompleted') return event.data.content !== '';
  return event.event === 'error' && (event.partial ?? '') !== '';
}
