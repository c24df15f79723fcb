import type { MachineState } from '../../core/machine-state.ts';

export interface MachinesSnapshot {
  /** The running machines, by id. */
  readonly machines: ReadonlyMap<string, MachineState>;
  /** Counts the beginnings and ends of turns. */
  readonly turns: number;
  /** Counts the state changes of tool servers. */
  readonly serverChanges: number;
}

type StateListener = (state: MachineState) => void;

/** The states of all machines: first the current ones, then each change. `EventSource` reconnects by itself. */
export class MachinesFeed {
  #snapshot: MachinesSnapshot = { machines: new Map(), turns: 0, serverChanges: 0 };
  #isScheduled = false;
  readonly #source: EventSource;
  readonly #listeners = new Set<() => void>();
  readonly #stateListeners = new Set<StateListener>();

  constructor() {
    this.#source = new EventSource('/api/statecharts');
    // On each connection the service sends all current states, so forget machines that ended meanwhile.
    this.#source.addEventListener('open', () => this.#change({ machines: new Map() }));
    this.#source.addEventListener('machine', ({ data }) => this.#take(JSON.parse(data)));
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): MachinesSnapshot => this.#snapshot;

  /** Calls the listener with every state, even one too short to be seen. @returns a function that unsubscribes. */
  onState(listener: StateListener): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  close(): void {
    this.#source.close();
  }

  #take(state: MachineState): void {
    for (const listener of this.#stateListeners) listener(state);
    const { machines, turns, serverChanges } = this.#snapshot;
    const isTurn = state.machine === 'turn';
    const isNew = !machines.has(state.id);
    const next = new Map(machines);
    if (state.status === 'active') next.set(state.id, state);
    else next.delete(state.id);
    this.#change({
      machines: next,
      turns: turns + (isTurn && (isNew || state.status !== 'active') ? 1 : 0),
      serverChanges: serverChanges + (isTurn ? 0 : 1),
    });
  }

  #change(change: Partial<MachinesSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      for (const listener of this.#listeners) listener();
    });
  }
}
