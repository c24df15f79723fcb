import { createHash } from 'node:crypto';

/* Replaces the timers and clocks of this process by simulated ones while a world runs. Import it before the runtime. */

/** The time of a simulated world. */
export interface SimulatedTime {
  /** Milliseconds since the world began. */
  readonly now: number;
  /** By how much the clock of whoever runs now is wrong, in milliseconds. */
  readonly clockShiftMs: number;
  /** @returns what cancels it. */
  after(ms: number, run: () => void): () => void;
  /** From 0 to 1. */
  random(): number;
}

/** When a world begins: 2026-01-01. */
export const EPOCH = 1_767_225_600_000;
/** How long a turn of the event loop takes. */
const LOOP_MS = 0.01;

const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate };
const realPerformanceNow = performance.now.bind(performance);
const realDateNow = Date.now;
const realRandom = Math.random;
const realUuid = crypto.randomUUID.bind(crypto);

let time: SimulatedTime | null = null;

/** What Node's timers return, as far as the runtime uses it. */
class SimulatedTimer {
  readonly #start: () => () => void;
  cancel: () => void;

  /** @param start returns what cancels it. */
  constructor(start: () => () => void) {
    this.#start = start;
    this.cancel = start();
  }

  refresh(): this {
    this.cancel();
    this.cancel = this.#start();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

type Callback = (...args: unknown[]) => void;

function startTimer(run: Callback, ms: number, args: unknown[]): SimulatedTimer | null {
  const current = time;
  return current && new SimulatedTimer(() => current.after(Math.max(1, ms), () => run(...args)));
}

function startInterval(run: Callback, ms: number, args: unknown[]): SimulatedTimer | null {
  const current = time;
  if (!current) return null;
  let cancel: () => void = () => undefined;
  const again = (): void => {
    cancel = current.after(Math.max(1, ms), () => {
      again();
      run(...args);
    });
  };
  return new SimulatedTimer(() => {
    again();
    return () => cancel();
  });
}

function stop(timer: unknown): boolean {
  if (timer instanceof SimulatedTimer) timer.cancel();
  return timer instanceof SimulatedTimer;
}

const replaced = {
  setTimeout: (run: Callback, ms = 0, ...args: unknown[]) =>
    startTimer(run, ms, args) ?? real.setTimeout(run, ms, ...args),
  clearTimeout: (timer: never) => stop(timer) || real.clearTimeout(timer),
  setInterval: (run: Callback, ms = 0, ...args: unknown[]) =>
    startInterval(run, ms, args) ?? real.setInterval(run, ms, ...args),
  clearInterval: (timer: never) => stop(timer) || real.clearInterval(timer),
  setImmediate: (run: Callback, ...args: unknown[]) => {
    const current = time;
    return current
      ? new SimulatedTimer(() => current.after(LOOP_MS, () => run(...args)))
      : real.setImmediate(run, ...args);
  },
  clearImmediate: (timer: never) => stop(timer) || real.clearImmediate(timer),
};
Object.assign(globalThis, replaced);
performance.now = () => time?.now ?? realPerformanceNow();
Date.now = () => (time ? EPOCH + Math.floor(time.now) + time.clockShiftMs : realDateNow());
Math.random = () => time?.random() ?? realRandom();
// On a thread of its own it would take real time.
crypto.subtle.digest = async (_algorithm, data) => {
  const hashed = createHash('sha256')
    .update(new Uint8Array(data as ArrayBuffer))
    .digest();
  return hashed.buffer.slice(hashed.byteOffset, hashed.byteOffset + hashed.byteLength);
};
crypto.randomUUID = () => (time ? uuidOf(time.random) : realUuid());

/** From here to the next call, timers are those of this time; null: the real ones. */
export function takeTime(next: SimulatedTime | null): void {
  time = next;
}

/** Resolves when all that follows from what has happened has been done, in real time. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    real.setImmediate(resolve);
  });
}

function uuidOf(random: () => number): ReturnType<typeof realUuid> {
  const digits = (count: number): string =>
    Math.floor(random() * 16 ** count)
      .toString(16)
      .padStart(count, '0');
  return `${digits(8)}-${digits(4)}-4${digits(3)}-a${digits(3)}-${digits(12)}`;
}
