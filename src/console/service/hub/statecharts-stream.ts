import type { TokenSource } from '../../../client/admission.ts';
import type { MachineState } from '../../../core/machine-state.ts';
import { ApiError } from '../api-error.ts';
import { eventStream, type StreamItem } from './event-stream.ts';
import { MachineStates } from './machine-states.ts';
import { isUnauthorized, retryDelayMs, troubleOf } from './trouble.ts';

const PATH = '/api/statecharts';

export interface StatechartsStreamDeps {
  /** The token of whoever is signed in. @see HubKey.source */
  readonly token: () => TokenSource | undefined;
  /** The service refuses the stream, for now or for good. */
  readonly onRefused: (error: unknown) => void;
}

/** The stream of the machines alone, for tabs that have no session. It is tried again until it is closed. */
export class StatechartsStream {
  readonly states = new MachineStates();
  readonly #deps: StatechartsStreamDeps;
  readonly #closing = new AbortController();
  readonly #token: TokenSource | undefined;
  /** The last key of the token. */
  #key: string | null = null;
  /** Whether the last key was refused, and its successor has not been tried yet. */
  #isRenewing = false;

  constructor(deps: StatechartsStreamDeps) {
    this.#deps = deps;
    this.#token = deps.token();
    void this.#connect(0);
  }

  close(): void {
    this.#closing.abort();
  }

  async #connect(failures: number): Promise<void> {
    const { signal } = this.#closing;
    let failed = failures;
    try {
      const token = this.#token;
      this.#key ??= typeof token === 'function' ? await token() : (token ?? null);
      for await (const item of eventStream(PATH, this.#key, signal)) {
        if (signal.aborted) return;
        failed = 0;
        this.#take(item);
      }
      this.#retry(new Error('The service has ended the stream.'), failed);
    } catch (error) {
      if (this.#renews(error)) void this.#connect(failed);
      else {
        // The next attempt asks for a key again.
        if (isUnauthorized(error)) this.#key = null;
        else this.#isRenewing = false;
        this.#retry(error, failed);
      }
    }
  }

  /** Forgets a key that has ended. @returns whether there may be another one. */
  #renews(error: unknown): boolean {
    if (!isUnauthorized(error) || this.#isRenewing || typeof this.#token !== 'function') return false;
    this.#isRenewing = true;
    this.#key = null;
    this.states.lost(null);
    return true;
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
    if (item.kind === 'open') {
      this.#isRenewing = false;
      this.states.opened();
    } else if (item.event === 'error') throw new ApiError(JSON.parse(item.data).error);
    else if (item.event === 'machine') {
      const state: MachineState = JSON.parse(item.data);
      // This stream sends all current states first, without a word on where they end: they have no event. Nor has the
      // first state of a machine that begins.
      this.states.take(state, state.event !== null || state.status !== 'active');
    }
  }
}
