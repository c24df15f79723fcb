import type { MachineState } from '../../core/machine-state.ts';
import type { MachinesNews, SessionNews, Trouble } from './hub/hub-messages.ts';
import type { HubLink } from './hub-link.ts';

export interface MachinesSnapshot {
  /** The running machines, by id. */
  readonly machines: ReadonlyMap<string, MachineState>;
  /** Counts the beginnings and ends of turns. Those that no stream has told of count as one. */
  readonly turns: number;
  /** Counts the state changes of tool servers, likewise. */
  readonly serverChanges: number;
  /** Why there is no connection; null while there is one, or while the first is made. */
  readonly trouble: Trouble | null;
}

/** Hears every state, even one too short to be seen. */
export interface StateListener {
  /** All current states follow: a machine that is not among them has ended. */
  readonly onOpened: () => void;
  /** @see MachineStates.take */
  readonly onState: (state: MachineState, isMove: boolean) => void;
}

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

  /** @returns a function that unsubscribes. */
  listen(listener: StateListener): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  #hear(news: SessionNews | MachinesNews): void {
    if (news.kind === 'machines.opened') this.#reopen();
    else if (news.kind === 'machines.trouble') this.#change({ trouble: news.trouble });
    else if (news.kind === 'machines.state') this.#take(news.state, news.isMove);
  }

  /** All current states follow. What has ended without a stream is not among them, so it is counted here. */
  #reopen(): void {
    for (const { onOpened } of this.#stateListeners) onOpened();
    const { turns, serverChanges } = this.#snapshot;
    this.#change({ machines: new Map(), turns: turns + 1, serverChanges: serverChanges + 1 });
  }

  #take(state: MachineState, isMove: boolean): void {
    for (const { onState } of this.#stateListeners) onState(state, isMove);
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
