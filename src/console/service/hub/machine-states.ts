import type { MachineState } from '../../../core/machine-state.ts';
import type { MachinesNews, Trouble } from './hub-messages.ts';

/** The states of all machines, as one stream tells them. */
export class MachineStates {
  readonly #running = new Map<string, MachineState>();
  #isOpen = false;
  #trouble: Trouble | null = null;
  #listener: (news: MachinesNews) => void = () => undefined;

  /** Whether the stream is open and has told of all machines that run. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Tells the listener what is known, then what changes, until the next call. */
  tell(listener: (news: MachinesNews) => void): void {
    this.#listener = listener;
    for (const news of this.known) listener(news);
  }

  get known(): readonly MachinesNews[] {
    const trouble = this.#trouble;
    if (!this.#isOpen) return [{ kind: 'machines.trouble', trouble }];
    const states = [...this.#running.values()];
    return [
      { kind: 'machines.opened' },
      ...states.map((state) => ({ kind: 'machines.state', state, isMove: false }) as const),
      { kind: 'machines.trouble', trouble },
    ];
  }

  /** The stream is open and tells of the machines that run. Others have ended meanwhile. */
  opened(): void {
    this.#isOpen = true;
    this.#running.clear();
    this.#listener({ kind: 'machines.opened' });
    this.#change(null);
  }

  /** @param isMove whether the machine has just come to this state, and did not have it when the stream was opened. */
  take(state: MachineState, isMove: boolean): void {
    if (state.status === 'active') this.#running.set(state.id, state);
    else this.#running.delete(state.id);
    this.#listener({ kind: 'machines.state', state, isMove });
  }

  /** @param trouble why there is no stream; null if that is not known. */
  lost(trouble: Trouble | null): void {
    this.#isOpen = false;
    this.#change(trouble);
  }

  #change(trouble: Trouble | null): void {
    this.#trouble = trouble;
    this.#listener({ kind: 'machines.trouble', trouble });
  }
}
