import type { Unsubscribe } from '../../../src/ports/bus.ts';
import type { NodeLink, Subject } from '../../../src/ports/node-link.ts';
import type { Life, World } from './world.ts';

const FASTEST_MS = 0.2;
const SPREAD_MS = 3;
/** By how much a text may be late, so that later ones overtake it. */
const LATE_MS = 1_500;

/** How often texts are lost, doubled or late. Each from 0 to 1. */
export interface Weather {
  readonly lost: number;
  readonly doubled: number;
  readonly late: number;
}

const FAIR: Weather = { lost: 0, doubled: 0, late: 0 };

/** What the nodes say to each other, as a server of messages carries it. */
export class SimulatedNetwork {
  weather: Weather = FAIR;
  /** Whether the numbers of messages tell which of them were lost. */
  isNumbered = true;
  readonly #world: World;
  readonly #links = new Set<SimulatedLink>();
  /** How many numbered messages one link has had from another. */
  readonly #counts = new Map<string, number>();
  /** When the last text from one link arrives at another. */
  readonly #last = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  connect(life: Life): SimulatedLink {
    const link = new SimulatedLink(life, (subject, text) => this.#send(link, subject, text));
    this.#links.add(link);
    life.onDeath(() => this.#links.delete(link));
    return link;
  }

  #send(from: SimulatedLink, subject: Subject, text: string): void {
    const { lost, doubled, late } = this.weather;
    for (const to of this.#links) {
      if (to === from || !to.hears(subject)) continue;
      const times = this.#world.chance(lost) ? 0 : this.#world.chance(doubled) ? 2 : 1;
      for (let time = 0; time < times; time += 1)
        this.#carry(from, to, subject, text, this.#world.chance(late));
    }
  }

  #carry(from: SimulatedLink, to: SimulatedLink, subject: Subject, text: string, isLate: boolean): void {
    const { now } = this.#world;
    const pair = `${from.life.name} ${to.life.name}`;
    const soonest = now + FASTEST_MS + this.#world.random() * SPREAD_MS;
    const at = isLate
      ? soonest + this.#world.random() * LATE_MS
      : Math.max(soonest, this.#last.get(pair) ?? 0);
    if (!isLate) this.#last.set(pair, at);
    this.#world.plan(to.life, at - now, `hears on ${subject}: ${text.slice(0, 160)}`, () =>
      to.take(subject, this.isNumbered ? text : this.#renumbered(text, pair)),
    );
  }

  /** As if nothing had been lost before it. */
  #renumbered(text: string, pair: string): string {
    const match = /^(\{"type":"feed","from":\d+,"n":)\d+(,"items":\[\[.*)$/s.exec(text);
    if (!match) return text.startsWith('{"type":"feed"') ? 'null' : text;
    const count = (this.#counts.get(pair) ?? 0) + 1;
    this.#counts.set(pair, count);
    return `${match[1]}${count}${match[2]}`;
  }
}

/** The connection of one node. */
export class SimulatedLink implements NodeLink {
  readonly life: Life;
  isUp = true;
  dropped = 0;
  /** Texts in this direction vanish, and nobody notices. */
  isDeaf = false;
  isMute = false;
  readonly #send: (subject: Subject, text: string) => void;
  readonly #listeners = new Map<Subject, Set<(text: string) => void>>();
  readonly #onGap = new Set<() => void>();

  constructor(life: Life, send: (subject: Subject, text: string) => void) {
    this.life = life;
    this.#send = send;
  }

  hears(subject: Subject): boolean {
    return this.#listeners.has(subject);
  }

  publish(subject: Subject, text: string): void {
    if (!this.isUp) this.dropped += 1;
    else if (!this.isMute) this.#send(subject, text);
  }

  subscribe(subject: Subject, listener: (text: string) => void): Unsubscribe {
    const listeners = this.#listeners.get(subject) ?? new Set();
    this.#listeners.set(subject, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  onGap(listener: () => void): Unsubscribe {
    this.#onGap.add(listener);
    return () => this.#onGap.delete(listener);
  }

  take(subject: Subject, text: string): void {
    if (!this.isUp || this.isDeaf) return;
    for (const listener of this.#listeners.get(subject) ?? []) listener(text);
  }

  cut(): void {
    this.isUp = false;
  }

  /** Everything arrives again. The node hears of a gap if it has noticed one. */
  heal(): void {
    const wasUp = this.isUp;
    this.isUp = true;
    this.isDeaf = false;
    this.isMute = false;
    if (!wasUp) for (const listener of this.#onGap) listener();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
  }
}
