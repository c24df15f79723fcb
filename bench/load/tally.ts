import { percentile, rounded } from '../support/statistics.ts';
import type { Row } from '../support/table.ts';

/** What all clients together have seen. */
export class Tally {
  readonly expectedMessages: number;
  readonly #begun = performance.now();
  readonly #firstMs: number[] = [];
  readonly #doneMs: number[] = [];
  readonly #failures = new Map<string, number>();
  clients = 0;
  chunks = 0;
  resumed = 0;
  /** Sessions that were compared with the log. */
  checked = 0;
  readonly #faults: string[] = [];

  constructor(expectedMessages: number) {
    this.expectedMessages = expectedMessages;
  }

  /** @param firstMs until the first chunk, if there was one. */
  answered(doneMs: number, firstMs: number | null): void {
    this.#doneMs.push(doneMs);
    if (firstMs !== null) this.#firstMs.push(firstMs);
  }

  /** A message that got no answer. */
  failed(reason: string): void {
    this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1);
  }

  /** A session was compared with the log. @param difference null when there is none. */
  compared(session: string, difference: string | null): void {
    this.checked += 1;
    if (difference !== null) this.fault(session, difference);
  }

  /** What was received is not what was promised. */
  fault(session: string, description: string): void {
    this.#faults.push(`session ${session}: ${description}`);
  }

  get failures(): readonly [reason: string, count: number][] {
    return [...this.#failures];
  }

  get faults(): readonly string[] {
    return this.#faults;
  }

  get progress(): string {
    const seconds = (performance.now() - this.#begun) / 1_000;
    const done = this.#doneMs.length;
    const failed = [...this.#failures.values()].reduce((sum, count) => sum + count, 0);
    const [p50, p99] = [0.5, 0.99].map((share) => percentile(sorted(this.#doneMs), share).toFixed(1));
    return (
      `${seconds.toFixed(0)} s  ${this.clients} clients  ${done}/${this.expectedMessages} messages  ` +
      `${(done / seconds).toFixed(0)}/s  p50 ${p50} ms  p99 ${p99} ms  ${this.resumed} resumed  ${failed} failed`
    );
  }

  get rows(): Row[] {
    const seconds = (performance.now() - this.#begun) / 1_000;
    const timed = [
      ['first chunk', this.#firstMs],
      ['whole answer', this.#doneMs],
    ] as const;
    return timed
      .filter(([, times]) => times.length > 0)
      .map(([what, times]) => ({
        what,
        ...percentiles(times),
        'per second': rounded(times.length / seconds),
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
