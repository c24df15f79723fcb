import type { MachinesNews } from './hub-messages.ts';
import type { MachineStates } from './machine-states.ts';
import { StatechartsStream } from './statecharts-stream.ts';
import type { Tab } from './tab.ts';

/**
 * The states of all machines, for all tabs. They come over the stream of a session, and over a stream of their own only
 * while no tab shows a session.
 */
export class SharedMachines {
  readonly #tabs = new Set<Tab>();
  readonly #onCrowded: () => void;
  /** Those of the open sessions, the oldest first. */
  readonly #sources = new Set<MachineStates>();
  #own: StatechartsStream | null = null;
  #chosen: MachineStates | null = null;

  constructor(onCrowded: () => void) {
    this.#onCrowded = onCrowded;
  }

  join(tab: Tab): void {
    this.#tabs.add(tab);
    for (const news of this.#chosen?.known ?? []) tab.post(news);
    this.choose();
  }

  leave(tab: Tab): void {
    this.#tabs.delete(tab);
    this.choose();
  }

  /** The stream of a session that is about to open. */
  add(source: MachineStates): void {
    this.#sources.add(source);
    this.choose();
  }

  remove(source: MachineStates): void {
    this.#sources.delete(source);
    this.choose();
  }

  /** Chooses the stream that the tabs hear. Call it when one opens or is lost. */
  choose(): void {
    const source = this.#best();
    if (source !== this.#own?.states) {
      this.#own?.close();
      this.#own = null;
    }
    if (source === this.#chosen) return;
    this.#chosen?.tell(() => undefined);
    this.#chosen = source;
    source?.tell((news) => this.#post(news));
  }

  #best(): MachineStates | null {
    if (this.#tabs.size === 0) return null;
    const [first, ...others] = this.#sources;
    if (!first) {
      this.#own ??= new StatechartsStream(this.#onCrowded);
      return this.#own.states;
    }
    const current = this.#chosen && this.#sources.has(this.#chosen) ? this.#chosen : first;
    return current.isOpen ? current : ([first, ...others].find(({ isOpen }) => isOpen) ?? current);
  }

  #post(news: MachinesNews): void {
    for (const tab of this.#tabs) tab.post(news);
  }
}
