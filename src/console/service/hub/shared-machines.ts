import type { MachinesNews } from './hub-messages.ts';
import type { MachineStates } from './machine-states.ts';
import { StatechartsStream, type StatechartsStreamDeps } from './statecharts-stream.ts';
import type { Tab } from './tab.ts';

/** A tab opens its session within this time. Chromium keeps the connection of a stream that is closed at once for 5 s. */
const SESSION_WITHIN_MS = 2_000;

/**
 * The states of all machines, for all tabs. They come over the stream of a session, and over a stream of their own only
 * while no tab has a session, such as one whose id is refused.
 */
export class SharedMachines {
  readonly #tabs = new Set<Tab>();
  readonly #deps: StatechartsStreamDeps;
  /** The machines of the open sessions, the oldest session first. */
  readonly #sources = new Set<MachineStates>();
  #own: StatechartsStream | null = null;
  #ownLater: ReturnType<typeof setTimeout> | undefined;
  #chosen: MachineStates | null = null;

  constructor(deps: StatechartsStreamDeps) {
    this.#deps = deps;
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
    const needsOwn = this.#tabs.size > 0 && this.#sources.size === 0;
    if (needsOwn) this.#ownLater ??= setTimeout(() => this.#openOwn(), SESSION_WITHIN_MS);
    else this.#closeOwn();
    const source = needsOwn ? (this.#own?.states ?? null) : this.#best();
    if (source === this.#chosen) return;
    this.#chosen?.tell(() => undefined);
    this.#chosen = source;
    source?.tell((news) => this.#post(news));
  }

  #best(): MachineStates | null {
    if (this.#tabs.size === 0) return null;
    const sources = [...this.#sources];
    const current = sources.find((source) => source === this.#chosen) ?? sources[0] ?? null;
    return current?.isOpen ? current : (sources.find(({ isOpen }) => isOpen) ?? current);
  }

  #openOwn(): void {
    this.#own = new StatechartsStream(this.#deps);
    this.choose();
  }

  #closeOwn(): void {
    clearTimeout(this.#ownLater);
    this.#ownLater = undefined;
    this.#own?.close();
    this.#own = null;
  }

  #post(news: MachinesNews): void {
    for (const tab of this.#tabs) tab.post(news);
  }
}
