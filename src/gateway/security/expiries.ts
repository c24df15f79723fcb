import { MAX_TIMEOUT_MS } from '../../core/timeout-ms.ts';

interface Expiry<T> {
  readonly waiting: Set<T>;
  timer: NodeJS.Timeout;
}

/** Tells when times have come. All requests with one token expire together, so one timer is enough for them. */
export class Expiries<T> {
  /** By the time, in milliseconds since the epoch. */
  readonly #expiries = new Map<number, Expiry<T>>();
  readonly #onExpired: (item: T) => void;
  readonly #now: () => number;

  /** @param onExpired is called with each item whose time has come, after it was removed. */
  constructor(onExpired: (item: T) => void, now: () => number) {
    this.#onExpired = onExpired;
    this.#now = now;
  }

  /** @param time milliseconds since the epoch. If it is past, the item expires in the next turn of the event loop. */
  add(item: T, time: number): void {
    const known = this.#expiries.get(time);
    if (known) known.waiting.add(item);
    else this.#expiries.set(time, { waiting: new Set([item]), timer: this.#timer(time) });
  }

  remove(item: T, time: number): void {
    const expiry = this.#expiries.get(time);
    if (!expiry) return;
    expiry.waiting.delete(item);
    if (expiry.waiting.size > 0) return;
    clearTimeout(expiry.timer);
    this.#expiries.delete(time);
  }

  #timer(time: number): NodeJS.Timeout {
    const left = Math.max(0, time - this.#now());
    // Pings keep a WebSocket open for as long as both sides live, so a time beyond the longest timer may come, too.
    return setTimeout(() => this.#look(time), Math.min(left, MAX_TIMEOUT_MS)).unref();
  }

  #look(time: number): void {
    const expiry = this.#expiries.get(time);
    if (!expiry) return;
    if (time > this.#now()) {
      expiry.timer = this.#timer(time);
      return;
    }
    this.#expiries.delete(time);
    for (const item of expiry.waiting) this.#onExpired(item);
  }
}
