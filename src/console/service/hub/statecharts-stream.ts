import type { MachineState } from '../../../core/machine-state.ts';
import { eventStream, type StreamItem } from './event-stream.ts';
import { MachineStates } from './machine-states.ts';
import { retryDelayMs, troubleOf } from './trouble.ts';

const PATH = '/api/statecharts';

export interface StatechartsStreamDeps {
  /** Of whoever is signed in. */
  readonly key: () => string | null;
  /** The service refuses the stream, for now or for good. */
  readonly onRefused: (error: unknown) => void;
}

/** The stream of the machines alone, for tabs that have no session. It is tried again until it is closed. */
export class StatechartsStream {
  readonly states = new MachineStates();
  readonly #deps: StatechartsStreamDeps;
  readonly #closing = new AbortController();

  constructor(deps: StatechartsStreamDeps) {
    this.#deps = deps;
    void this.#connect(0);
  }

  close(): void {
    this.#closing.abort();
  }

  async #connect(failures: number): Promise<void> {
    const { signal } = this.#closing;
    let failed = failures;
    try {
      for await (const item of eventStream(PATH, this.#deps.key(), signal)) {
        if (signal.aborted) return;
        failed = 0;
        this.#take(item);
      }
      this.#retry(new Error('The service has ended the stream.'), failed);
    } catch (error) {
      this.#retry(error, failed);
    }
  }

  #retry(error: unknown, failures: number): void {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    const delayMs = retryDelayMs(error, failures);
    this.states.lost(troubleOf(error, delayMs));
    this.#deps.onRefused(error);
    const timer = setTimeout(() => void this.#connect(failures + 1), delayMs);
    signal.addEventListener('abort', () => clearTimeout(timer));
  }

  #take(item: StreamItem): void {
    if (item.kind === 'open') this.states.opened();
    else {
      const state: MachineState = JSON.parse(item.data);
      // This stream sends all current states first, without a word on where they end: they have no event. Nor has the
      // first state of a machine that begins.
      this.states.take(state, state.event !== null || state.status !== 'active');
    }
  }
}
