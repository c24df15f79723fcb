import { seededRandom } from '../project/seeded-random.ts';
import { type SimulatedTime, settled, takeTime } from './simulated-time.ts';

interface Task {
  readonly at: number;
  /** Of two at the same time, the one that was planned first comes first. */
  readonly order: number;
  /** The process that does it; null: what is outside of all processes. */
  readonly life: Life | null;
  readonly what: string;
  readonly run: () => void;
  /** Whether all that it does is done when `run` returns. */
  readonly isShort: boolean;
  isCancelled: boolean;
}

/** One life of a process. What it has planned is done only while it lives, and while it is not paused. */
export class Life {
  readonly name: string;
  readonly clockShiftMs: number;
  isDead = false;
  isPaused = false;
  /** What came while it was paused. */
  held: Task[] = [];
  readonly #onDeath = new Set<() => void>();

  constructor(name: string, clockShiftMs: number) {
    this.name = name;
    this.clockShiftMs = clockShiftMs;
  }

  /** Told from outside: by its connections, which are closed. */
  onDeath(listener: () => void): () => void {
    this.#onDeath.add(listener);
    return () => this.#onDeath.delete(listener);
  }

  die(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.held = [];
    for (const listener of this.#onDeath) listener();
  }
}

/** Time, chance, and all that is going to happen, of which one thing happens after the other. */
export class World implements SimulatedTime {
  now = 0;
  readonly random: () => number;
  /** What must not have happened. */
  readonly faults: string[] = [];
  /** Who runs now. */
  current: Life | null = null;
  readonly #notes: { readonly at: number; readonly who: string; readonly what: string }[] = [];
  readonly #tasks: Task[] = [];
  #planned = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  get clockShiftMs(): number {
    return this.current?.clockShiftMs ?? 0;
  }

  /** From 0 to `most`, without it, as a whole number. */
  below(most: number): number {
    return Math.floor(this.random() * most);
  }

  chance(part: number): boolean {
    return this.random() < part;
  }

  pick<T>(all: readonly T[]): T {
    const picked = all[this.below(all.length)];
    if (picked === undefined) throw new Error('there is nothing to choose from');
    return picked;
  }

  note(what: string): void {
    this.#notes.push({ at: this.now, who: this.current?.name ?? '', what });
  }

  /** What happened, one line each, for whoever wants to see it again. */
  trace(): string[] {
    return this.#notes.map(({ at, who, what }) => `${at.toFixed(2).padStart(9)} ${who.padEnd(6)} ${what}`);
  }

  after(ms: number, run: () => void): () => void {
    return this.plan(this.current, ms, '', run);
  }

  /** @param what said in the trace when it happens. Empty: nothing. */
  plan(life: Life | null, ms: number, what: string, run: () => void, isShort = false): () => void {
    const task = { at: this.now + ms, order: this.#planned, life, what, run, isShort, isCancelled: false };
    this.#planned += 1;
    insert(this.#tasks, task);
    return () => {
      task.isCancelled = true;
    };
  }

  /** Resolves after this time, outside of all processes. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.plan(null, ms, '', resolve);
    });
  }

  /** Does something as this process, now. */
  as<T>(life: Life | null, work: () => T): T {
    const before = this.current;
    this.current = life;
    try {
      return work();
    } finally {
      this.current = before;
    }
  }

  pause(life: Life): void {
    life.isPaused = true;
  }

  /** What it was to do meanwhile comes at once, in that order. */
  resume(life: Life): void {
    life.isPaused = false;
    const { held } = life;
    life.held = [];
    for (const { what, run, isShort, isCancelled } of held)
      if (!isCancelled) this.plan(life, 0, what, run, isShort);
  }

  /** Lets everything happen until that holds. @returns whether it does after `limitMs` at the latest. */
  async run(isOver: () => boolean, limitMs: number): Promise<boolean> {
    const until = this.now + limitMs;
    takeTime(this);
    try {
      while (!isOver() && this.now <= until) {
        const task = this.#tasks.shift();
        if (!task) break;
        this.now = Math.max(this.now, task.at);
        await this.#do(task);
      }
    } finally {
      takeTime(null);
    }
    return isOver();
  }

  async #do(task: Task): Promise<void> {
    const { life, what, run } = task;
    if (task.isCancelled || life?.isDead) return;
    if (life?.isPaused) {
      life.held.push(task);
      return;
    }
    this.current = life;
    if (what !== '') this.note(what);
    try {
      run();
    } catch (error) {
      this.faults.push(`${life?.name ?? 'the test'} threw ${String(error)}`);
    }
    // All that follows without time is done by the same process.
    if (!task.isShort) await settled();
    this.current = null;
  }
}

/** Keeps the tasks in the order in which they come. Most come late. */
function insert(tasks: Task[], task: Task): void {
  let low = 0;
  let high = tasks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = tasks[middle];
    if (other && (other.at < task.at || (other.at === task.at && other.order < task.order))) low = middle + 1;
    else high = middle;
  }
  tasks.splice(low, 0, task);
}
