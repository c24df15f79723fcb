import { type Actor, createActor } from 'xstate';
import {
  type TurnContext,
  type TurnEffect,
  type TurnEvent,
  type TurnInput,
  turnMachine,
} from '../../../machines/turn.machine.ts';
import { type TablePosition, TransitionTable } from '../machines/transition-table.ts';

const table = new TransitionTable(turnMachine);

/**
 * The machine of one turn. It goes by its transition table, and becomes an actor of XState in the same state as soon as
 * somebody wants to watch it: an actor can be inspected, and costs thirty times as much.
 */
export class TurnActor {
  readonly #input: TurnInput;
  readonly #perform: (effect: TurnEffect) => void;
  /** Null before the start. */
  #position: TablePosition<TurnContext> | null = null;
  /** Null as long as nobody watches. */
  #actor: Actor<typeof turnMachine> | null = null;
  #isStopped = false;
  /** Events that effects sent while they began; null when no event is being handled. */
  #waiting: TurnEvent[] | null = null;

  constructor(input: TurnInput, perform: (effect: TurnEffect) => void) {
    this.#input = input;
    this.#perform = perform;
  }

  start(): void {
    if (this.#actor) this.#actor.start();
    else this.#move((effects) => table.begin(this.#input, effects));
  }

  /** A turn that has ended or was stopped does not hear it. */
  send(event: TurnEvent): void {
    if (this.#waiting) this.#waiting.push(event);
    else if (this.isActive) this.#take(event);
  }

  /** Leaves no state and emits nothing. */
  stop(): void {
    this.#isStopped = true;
    this.#actor?.stop();
  }

  get isActive(): boolean {
    if (this.#actor) return this.#actor.getSnapshot().status === 'active';
    return !this.#isStopped && !this.#position?.state.isFinal;
  }

  /** The actor to watch. From now on it is the machine. */
  get actor(): Actor<typeof turnMachine> {
    this.#actor ??= this.#newActor();
    return this.#actor;
  }

  #newActor(): Actor<typeof turnMachine> {
    const input = this.#input;
    const options = { input, id: input.turnId };
    const position = this.#position;
    const actor = createActor(
      turnMachine,
      position ? { ...options, snapshot: snapshotAt(position) } : options,
    );
    actor.on('*', this.#perform);
    if (position) actor.start();
    return actor;
  }

  #take(event: TurnEvent): void {
    const position = this.#position;
    if (this.#actor) this.#actor.send(event);
    else if (position) this.#move((effects) => table.next(position, event, effects));
  }

  /** Effects begin in the new position. What they send is handled after them, as XState does it. */
  #move(to: (effects: TurnEffect[]) => TablePosition<TurnContext>): void {
    const effects: TurnEffect[] = [];
    const waiting: TurnEvent[] = [];
    this.#position = to(effects);
    this.#waiting = waiting;
    try {
      for (const effect of effects) this.#perform(effect);
    } finally {
      this.#waiting = null;
    }
    for (const event of waiting) this.send(event);
  }
}

function snapshotAt({ state, context }: TablePosition<TurnContext>) {
  const { value, isFinal } = state;
  return turnMachine.resolveState({ value, context, status: isFinal ? 'done' : 'active' });
}
