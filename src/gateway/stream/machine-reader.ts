import type { MachineState } from '../../core/machine-state.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus, MachineFilter } from '../../ports/bus.ts';
import type { FrameSink } from './resuming-reader.ts';

export interface MachineReaderDeps {
  readonly bus: Bus;
  readonly context: RequestContext;
  readonly filter: MachineFilter;
  readonly sink: FrameSink;
  /** Encodes the states of all running machines, which are sent first. Absent: each is sent like a later state. */
  readonly encodeAll?: (states: readonly MachineState[]) => string;
  readonly encode: (state: MachineState) => string;
}

/** Beyond this, a slow client gets only the latest state of each machine. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** Sends one client the state of each running machine, then each later state, from its construction until `close`. */
export class MachineReader {
  readonly #deps: MachineReaderDeps;
  readonly #unwatch: () => void;
  /** Latest states that were not sent yet because the client is slow, by machine. */
  readonly #heldBack = new Map<string, MachineState>();

  constructor(deps: MachineReaderDeps) {
    this.#deps = deps;
    const { bus, context, filter, sink, encodeAll } = deps;
    const running: MachineState[] = [];
    // The bus tells of the machines that run before it returns.
    let hear = (state: MachineState): unknown => (encodeAll ? running.push(state) : this.#hear(state));
    this.#unwatch = bus.onMachines(filter, (state) => hear(state), context);
    if (encodeAll) sink.send(encodeAll(running));
    hear = (state) => this.#hear(state);
  }

  /** The client has read buffered bytes. */
  drained(): void {
    const { sink, encode } = this.#deps;
    for (const [id, state] of this.#heldBack) {
      if (sink.bufferedBytes() > MAX_BUFFERED_BYTES) return;
      this.#heldBack.delete(id);
      sink.send(encode(state));
    }
  }

  close(): void {
    this.#unwatch();
    this.#heldBack.clear();
  }

  #hear(state: MachineState): void {
    const { sink, encode } = this.#deps;
    // While states are held back, later ones are too: an older state must not follow a newer one.
    const isTaken = this.#heldBack.size === 0 && sink.bufferedBytes() <= MAX_BUFFERED_BYTES;
    if (isTaken) sink.send(encode(state));
    else this.#heldBack.set(state.id, state);
  }
}
