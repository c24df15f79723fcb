import { setImmediate as nextRound } from 'node:timers/promises';
import type { Unsubscribe } from '../../../src/ports/bus.ts';
import type { NodeLink, Subject } from '../../../src/ports/node-link.ts';
import { seededRandom } from '../project/seeded-random.ts';

/** How many rounds a text takes, for each time that it arrives: `[]` is lost, `[0, 0]` arrives twice, `[3]` is late. */
export type Way = readonly number[];
export type ChooseWay = (text: string, subject: Subject) => Way;

export const DIRECT: Way = [0];
export const LOST: Way = [];

export interface Disorder {
  /** How many of all texts, from 0 to 1. */
  readonly lost?: number;
  readonly doubled?: number;
  readonly late?: number;
}

/** The same ways for the same seed. */
export function randomWays(seed: number, { lost = 0, doubled = 0, late = 0 }: Disorder): ChooseWay {
  const random = seededRandom(seed);
  const rounds = (): number => (random() < late ? 1 + Math.floor(random() * 4) : 0);
  return () => {
    if (random() < lost) return LOST;
    return random() < doubled ? [rounds(), rounds()] : [rounds()];
  };
}

interface Travelling {
  readonly from: MemoryLink;
  readonly subject: Subject;
  readonly text: string;
  rounds: number;
}

/** Links nodes in one process. Texts arrive in rounds, each in the order in which they were sent. */
export class MemoryNetwork {
  /** What happens to each text. */
  way: ChooseWay = () => DIRECT;
  /** Whether the test calls `deliver` itself. Otherwise there is one round in each turn of the event loop. */
  readonly #isManual: boolean;
  readonly #links = new Set<MemoryLink>();
  #travelling: Travelling[] = [];
  #isRunning = false;

  constructor({ isManual = false } = {}) {
    this.#isManual = isManual;
  }

  connect(): MemoryLink {
    const link: MemoryLink = new MemoryLink({
      send: (subject, text) => this.#send(link, subject, text),
      leave: () => this.#links.delete(link),
    });
    this.#links.add(link);
    return link;
  }

  /** How many texts are on their way. */
  get size(): number {
    return this.#travelling.length;
  }

  /** One round. What is sent meanwhile takes the next one. */
  deliver(): void {
    const due = this.#travelling.filter(({ rounds }) => rounds === 0);
    this.#travelling = this.#travelling.filter(({ rounds }) => rounds > 0);
    for (const travelling of this.#travelling) travelling.rounds -= 1;
    for (const { from, subject, text } of due)
      for (const link of this.#links) if (link !== from) link.take(subject, text);
  }

  #send(from: MemoryLink, subject: Subject, text: string): void {
    for (const rounds of this.way(text, subject)) this.#travelling.push({ from, subject, text, rounds });
    if (this.#isManual || this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    while (this.#travelling.length > 0) {
      await nextRound();
      this.deliver();
    }
    this.#isRunning = false;
  }
}

interface Ends {
  readonly send: (subject: Subject, text: string) => void;
  readonly leave: () => void;
}

/** The link of one node. */
export class MemoryLink implements NodeLink {
  /** All that this node has sent. */
  readonly sent: { readonly subject: Subject; readonly text: string }[] = [];
  isUp = true;
  dropped = 0;
  readonly #ends: Ends;
  readonly #listeners = new Map<Subject, Set<(text: string) => void>>();
  readonly #gapListeners = new Set<() => void>();

  constructor(ends: Ends) {
    this.#ends = ends;
  }

  publish(subject: Subject, text: string): void {
    if (!this.isUp) {
      this.dropped += 1;
      return;
    }
    this.sent.push({ subject, text });
    this.#ends.send(subject, text);
  }

  subscribe(subject: Subject, listener: (text: string) => void): Unsubscribe {
    const listeners = this.#listeners.get(subject) ?? new Set();
    this.#listeners.set(subject, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  onGap(listener: () => void): Unsubscribe {
    this.#gapListeners.add(listener);
    return () => this.#gapListeners.delete(listener);
  }

  /** Nothing comes or goes until it is healed. */
  cut(): void {
    this.isUp = false;
  }

  heal(): void {
    this.isUp = true;
    for (const listener of this.#gapListeners) listener();
  }

  take(subject: Subject, text: string): void {
    if (!this.isUp) return;
    for (const listener of this.#listeners.get(subject) ?? []) listener(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends.leave();
  }
}
