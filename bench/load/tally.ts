import { setTimeout as wait } from 'node:timers/promises';
import { percentile, rounded } from '../support/statistics.ts';
import type { Row } from '../support/table.ts';
import { reasonOf } from './refused.ts';

/** The results of all clients. */
export class Tally {
  readonly expectedMessages: number;
  readonly #begun = performance.now();
  readonly #cpuBefore = process.cpuUsage();
  #firstAskedAt = Infinity;
  #lastAnsweredAt = 0;
  readonly #firstMs: number[] = [];
  readonly #doneMs: number[] = [];
  readonly #failures = new Map<string, number>();
  readonly #unchecked = new Map<string, number>();
  clients = 0;
  chunks = 0;
  /** Connections that the clients dropped on purpose. */
  resumed = 0;
  /** Connections that were lost. */
  lost = 0;
  /** Requests that had to wait for the end of a limit. */
  #limited = 0;
  /** Sessions that were compared with the log. */
  checked = 0;
  readonly #faults: string[] = [];

  constructor(expectedMessages: number) {
    this.expectedMessages = expectedMessages;
  }

  /** Counts an answered message. Times in ms since it was sent; `firstMs` to the first chunk, null without one. */
  answered(doneMs: number, firstMs: number | null): void {
    const now = performance.now();
    this.#firstAskedAt = Math.min(this.#firstAskedAt, now - doneMs);
    this.#lastAnsweredAt = now;
    this.#doneMs.push(doneMs);
    if (firstMs !== null) this.#firstMs.push(firstMs);
  }

  /** Counts a message without an answer. */
  failed(reason: string): void {
    this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1);
  }

  /** Waits for the end of a limit of the service. */
  async waitForLimit(limitMs: number, signal?: AbortSignal): Promise<void> {
    this.#limited += 1;
    await wait(limitMs, undefined, { ...(signal && { signal }) }).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
  }

  get limited(): number {
    return this.#limited;
  }

  /** @param differenceOf Resolves to the first difference between what was received and the log, or null. */
  async compare(session: string, differenceOf: () => Promise<string | null>): Promise<void> {
    try {
      const difference = await differenceOf();
      this.checked += 1;
      if (difference !== null) this.#faults.push(`session ${session}: ${difference}`);
    } catch (error) {
      const reason = reasonOf(error);
      this.#unchecked.set(reason, (this.#unchecked.get(reason) ?? 0) + 1);
    }
  }

  get failures(): readonly [reason: string, count: number][] {
    return [...this.#failures];
  }

  /** Why the events of sessions could not be read from the log. */
  get unchecked(): readonly [reason: string, count: number][] {
    return [...this.#unchecked];
  }

  /** From the first message to the last answer. */
  get seconds(): number {
    return Math.max(0, this.#lastAnsweredAt - this.#firstAskedAt) / 1_000;
  }

  /** Share of one core that this process used. Near 1, this process and not the instance is the bottleneck. */
  get cpuShare(): number {
    const { user, system } = process.cpuUsage(this.#cpuBefore);
    return (user + system) / 1_000 / (performance.now() - this.#begun);
  }

  get isClean(): boolean {
    return this.#failures.size + this.#unchecked.size + this.#faults.length === 0;
  }

  get faults(): readonly string[] {
    return this.#faults;
  }

  get progress(): string {
    const seconds = (performance.now() - this.#begun) / 1_000;
    const done = this.#doneMs.length;
    const failed = [...this.#failures.values()].reduce((sum, count) => sum + count, 0);
    const ascending = sorted(this.#doneMs);
    const [p50, p99] = [0.5, 0.99].map((share) => percentile(ascending, share).toFixed(1));
    const times = done === 0 ? '' : `p50 ${p50} ms  p99 ${p99} ms  `;
    return (
      `${seconds.toFixed(0)} s  ${this.clients} clients  ${done}/${this.expectedMessages} messages  ` +
      `${(done / seconds).toFixed(0)}/s  ${times}${this.resumed} resumed  ${this.lost} lost  ${failed} failed`
    );
  }

  get rows(): Row[] {
    const timed = [
      ['first chunk', this.#firstMs],
      ['whole answer', this.#doneMs],
    ] as const;
    return timed
      .filter(([, times]) => times.length > 0)
      .map(([what, times]) => ({
        what,
        ...percentiles(times),
        'per second': rounded(times.length / this.seconds),
      }));
  }
}

function percentiles(times: readonly number[]): Row {
  const ascending = sorted(times);
  const at = (share: number): number => rounded(percentile(ascending, share));
  return {
    count: times.length,
    'p50 ms': at(0.5),
    'p95 ms': at(0.95),
    'p99 ms': at(0.99),
    'max ms': at(1),
  };
}

function sorted(times: readonly number[]): number[] {
  return times.toSorted((a, b) => a - b);
}
