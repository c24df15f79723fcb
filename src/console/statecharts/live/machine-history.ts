import type { MachineState, StateValue } from '../../../core/machine-state.ts';
import type { Move } from '../chart/active-states.ts';

/** A machine as it was told of last, and how it came there. */
export interface RecordedMove extends Move {
  /** 1, 2, 3 … in the order in which they were told. */
  readonly number: number;
  readonly state: MachineState;
}

export interface HistorySnapshot {
  /** Each machine that runs or ended a short while ago, by id; the one that began last is the last. */
  readonly machines: ReadonlyMap<string, RecordedMove>;
  /** The last of them all, the newest first. */
  readonly moves: readonly RecordedMove[];
}

const MOST_MOVES = 100;
/** So many ended machines are still known. */
const MOST_ENDED = 20;

/** What the machines did while somebody looks: a ring of their last moves, also of those too short to be seen. */
export class MachineHistory {
  readonly #machines = new Map<string, RecordedMove>();
  #moves: RecordedMove[] = [];
  #count = 0;

  /** @param present where the machines are already. */
  constructor(present: Iterable<MachineState>) {
    for (const state of present) this.#machines.set(state.id, this.#moveOf(state, state.value));
  }

  get snapshot(): HistorySnapshot {
    return { machines: new Map(this.#machines), moves: this.#moves.toReversed() };
  }

  take(state: MachineState): void {
    const known = this.#machines.get(state.id)?.after ?? null;
    // After a lost connection the present is told anew: that is no move.
    const isRepeated = state.event === null && state.status === 'active' && known !== null;
    const move = this.#moveOf(state, known);
    this.#machines.set(state.id, move);
    if (isRepeated) return;
    this.#moves = [...this.#moves, move].slice(-MOST_MOVES);
    if (state.status !== 'active') this.#forgetEnded();
  }

  #moveOf(state: MachineState, before: StateValue | null): RecordedMove {
    this.#count += 1;
    return { number: this.#count, state, before, event: state.event, after: state.value };
  }

  #forgetEnded(): void {
    const ended = [...this.#machines].filter(([, { state }]) => state.status !== 'active');
    for (const [id] of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) this.#machines.delete(id);
  }
}

/** What is to be shown: a certain machine, or whatever turn of the session came last. */
export type Choice =
  | { readonly kind: 'follow' }
  | { readonly kind: 'machine'; readonly id: string; readonly machine: MachineState['machine'] };

/** The machine of that choice; undefined when none such runs, or is known any more. */
export function chosenMachine(
  choice: Choice,
  { machines }: HistorySnapshot,
  sessionId: string,
): RecordedMove | undefined {
  if (choice.kind === 'machine') return machines.get(choice.id);
  return [...machines.values()].findLast(({ state }) => state.sessionId === sessionId);
}

/** What a machine is called: a turn by its session, a tool server by its name. */
export function machineName({ machine, sessionId, context, id }: MachineState): string {
  if (machine === 'turn') return `Turn of ${sessionId ?? 'a session'}`;
  return typeof context.name === 'string' ? context.name : id;
}
