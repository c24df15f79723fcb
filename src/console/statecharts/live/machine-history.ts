import type { MachineState, StateValue } from '../../../core/machine-state.ts';
import type { Move } from '../chart/active-states.ts';

/** The last known state of a machine, and the move that led to it. */
export interface RecordedMove extends Move {
  /** 1, 2, 3 … in the order of arrival. */
  readonly number: number;
  readonly state: MachineState;
}

export interface HistorySnapshot {
  /** The running and the recently ended machines, by id, in the order in which they began. */
  readonly machines: ReadonlyMap<string, RecordedMove>;
  /** The last moves of all machines, the newest first. */
  readonly moves: readonly RecordedMove[];
}

const MAX_MOVES = 100;
/** How many ended machines are kept. */
const MAX_ENDED = 20;

/** The last moves of the machines since the panel was opened, including states too short to be seen. */
export class MachineHistory {
  readonly #machines = new Map<string, RecordedMove>();
  #moves: RecordedMove[] = [];
  #count = 0;

  /** @param present The current states of the running machines. */
  constructor(present: Iterable<MachineState>) {
    for (const state of present) this.#machines.set(state.id, this.#moveOf(state, state.value));
  }

  get snapshot(): HistorySnapshot {
    return { machines: new Map(this.#machines), moves: this.#moves.toReversed() };
  }

  /** All current states follow. How the machines that are not among them have ended is not known. */
  forgetRunning(): void {
    for (const [id, { state }] of this.#machines) if (state.status === 'active') this.#machines.delete(id);
  }

  /** @param isMove not where the machine is told to be when a stream is opened. */
  take(state: MachineState, isMove: boolean): void {
    const move = this.#moveOf(state, this.#machines.get(state.id)?.after ?? null);
    this.#machines.set(state.id, move);
    if (!isMove) return;
    this.#moves = [...this.#moves, move].slice(-MAX_MOVES);
    if (state.status !== 'active') this.#forgetEnded();
  }

  #moveOf(state: MachineState, before: StateValue | null): RecordedMove {
    this.#count += 1;
    return { number: this.#count, state, before, event: state.event, after: state.value };
  }

  #forgetEnded(): void {
    const ended = [...this.#machines].filter(([, { state }]) => state.status !== 'active');
    for (const [id] of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) this.#machines.delete(id);
  }
}

/** What the chart shows: the last turn of the session, or a certain machine. */
export type Choice =
  | { readonly kind: 'follow' }
  | { readonly kind: 'machine'; readonly id: string; readonly machine: MachineState['machine'] };

/** The chosen machine; undefined when it does not run and is no longer kept. */
export function chosenMachine(
  choice: Choice,
  { machines }: HistorySnapshot,
  sessionId: string,
): RecordedMove | undefined {
  if (choice.kind === 'machine') return machines.get(choice.id);
  return [...machines.values()].findLast(({ state }) => state.sessionId === sessionId);
}

/** The name of a machine for people: a turn has that of its session, a tool server its own. */
export function machineName({ machine, sessionId, context, id }: MachineState): string {
  if (machine === 'turn') return `Turn of ${sessionId ?? 'a session'}`;
  return typeof context.name === 'string' ? context.name : id;
}
