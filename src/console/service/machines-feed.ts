import type { MachineState } from '../../core/machine-state.ts';

export interface MachinesSnapshot {
  /** Those that run, by id. */
  readonly machines: ReadonlyMap<string, MachineState>;
  /** Grows when a turn begins or ends. */
  readonly turns: number;
  /** Grows when a tool server goes from one state to another. */
  readonly serverChanges: number;
}

type StateListener = (state: MachineState) => void;

/** Where all machines of the service are: the present first, then live. The browser connects again by itself. */
export class MachinesFeed {
  #snapshot: MachinesSnapshot = { machines: new Map(), turns: 0, serverChanges: 0 };
  #isScheduled = false;
  readonly #source: EventSource;
  readonly #listeners = new Set<() => void>();
  readonly #stateListeners = new Set<StateListener>();

  constructor() {
    this.#source = new EventSource('/api/statecharts');
    // After a lost connection the present is told anew; what ended meanwhile must not stay.
    this.#source.addEventListener('open', () => this.#change({ machines: new Map() }));
    this.#source.addEventListener('machine', ({ data }) => this.#take(JSON.parse(data)));
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): MachinesSnapshot => this.#snapshot;

  /** Every state that is told, also those too short to be seen. @returns a function that ends it. */
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
