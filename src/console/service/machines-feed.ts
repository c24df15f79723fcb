import type { MachineState } from '../../core/machine-state.ts';
import type { MachinesNews, SessionNews, Trouble } from './hub/hub-messages.ts';
import type { HubLink } from './hub-link.ts';

export interface MachinesSnapshot {
  /** The running machines, by id. */
  readonly machines: ReadonlyMap<string, MachineState>;
  /** Counts the beginnings and ends of turns. */
  readonly turns: number;
  /** Counts the state changes of tool servers. */
  readonly serverChanges: number;
  /** Why there is no connection; null while there is one, or while the first is made. */
  readonly trouble: Trouble | null;
}

/** @see MachineStates.take */
type StateListener = (state: MachineState, isMove: boolean) => void;

/** The states of all machines: first the current ones, then each change. */
export class MachinesFeed {
  #snapshot: MachinesSnapshot = { machines: new Map(), turns: 0, serverChanges: 0, trouble: null };
  #isScheduled = false;
  readonly #listeners = new Set<() => void>();
  readonly #stateListeners = new Set<StateListener>();
  /** Closes the feed. */
  readonly close: () => void;

  constructor(hub: HubLink) {
    this.close = hub.subscribe({
      isFor: ({ kind }) => kind.startsWith('machines.'),
      onNews: (news) => this.#hear(news),
      join: () => ({ kind: 'machines.join' }),
      leave: () => ({ kind: 'machines.leave' }),
      onPaused: () => undefined,
      isNeeded: () => false,
    });
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

  #hear(news: SessionNews | MachinesNews): void {
    // All current states follow, so forget machines that ended meanwhile.
    if (news.kind === 'machines.opened') this.#change({ machines: new Map() });
    else if (news.kind === 'machines.trouble') this.#change({ trouble: news.trouble });
    else if (news.kind === 'machines.state') this.#take(news.state, news.isMove);
  }

  #take(state: MachineState, isMove: boolean): void {
    for (const listener of this.#stateListeners) listener(state, isMove);
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
