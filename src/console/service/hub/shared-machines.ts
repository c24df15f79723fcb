import type { MachineState } from '../../../core/machine-state.ts';
import { eventStream, type StreamItem } from './event-stream.ts';
import type { MachinesNews, Trouble } from './hub-messages.ts';
import type { Tab } from './tab.ts';
import { isCrowded, retryDelayMs, troubleOf } from './trouble.ts';

const PATH = '/api/statecharts';

/** The states of all machines, over one stream for all tabs. It is open while a tab wants it. */
export class SharedMachines {
  readonly #tabs = new Set<Tab>();
  readonly #onCrowded: () => void;
  readonly #running = new Map<string, MachineState>();
  #stream: AbortController | null = null;
  #isOpen = false;
  #trouble: Trouble | null = null;

  constructor(onCrowded: () => void) {
    this.#onCrowded = onCrowded;
  }

  join(tab: Tab): void {
    this.#tabs.add(tab);
    if (this.#isOpen) {
      tab.post({ kind: 'machines.opened' });
      for (const state of this.#running.values()) tab.post({ kind: 'machines.state', state });
    }
    tab.post({ kind: 'machines.trouble', trouble: this.#trouble });
    this.#stream ??= this.#follow();
  }

  leave(tab: Tab): void {
    this.#tabs.delete(tab);
    if (this.#tabs.size > 0) return;
    this.#stream?.abort();
    this.#stream = null;
    this.#isOpen = false;
    this.#trouble = null;
  }

  #follow(): AbortController {
    const stream = new AbortController();
    void this.#connect(stream.signal, 0);
    return stream;
  }

  async #connect(signal: AbortSignal, failures: number): Promise<void> {
    let failed = failures;
    try {
      for await (const item of eventStream(PATH, signal)) {
        if (signal.aborted) return;
        failed = 0;
        this.#take(item);
      }
      this.#retry(new Error('The service has ended the stream.'), signal, failed);
    } catch (error) {
      this.#retry(error, signal, failed);
    }
  }

  #retry(error: unknown, signal: AbortSignal, failures: number): void {
    if (signal.aborted) return;
    this.#isOpen = false;
    const delayMs = retryDelayMs(error, failures);
    this.#tell(troubleOf(error, delayMs));
    if (isCrowded(error)) this.#onCrowded();
    const timer = setTimeout(() => void this.#connect(signal, failures + 1), delayMs);
    signal.addEventListener('abort', () => clearTimeout(timer));
  }

  #take(item: StreamItem): void {
    if (item.kind === 'open') {
      // The service sends all current states, so forget machines that ended meanwhile.
      this.#isOpen = true;
      this.#running.clear();
      this.#post({ kind: 'machines.opened' });
      this.#tell(null);
      return;
    }
    const state: MachineState = JSON.parse(item.data);
    if (state.status === 'active') this.#running.set(state.id, state);
    else this.#running.delete(state.id);
    this.#post({ kind: 'machines.state', state });
  }

  #tell(trouble: Trouble | null): void {
    this.#trouble = trouble;
    this.#post({ kind: 'machines.trouble', trouble });
  }

  #post(news: MachinesNews): void {
    for (const tab of this.#tabs) tab.post(news);
  }
}
