/** The mean and the 99th percentile of what was observed; NaN if nothing was. */
export interface IntervalSummary {
  readonly mean: number;
  readonly p99: number;
}

const SHARE = 0.99;

/** A histogram of one interval, over all labels. An observation costs an addition and a search among few bounds. */
export class IntervalHistogram {
  readonly #bounds: readonly number[];
  #counts: number[];
  #count = 0;
  #sum = 0;

  /** @param bounds upper bounds of the buckets, ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(seconds: number): void {
    this.#count += 1;
    this.#sum += seconds;
    const bucket = this.#bounds.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  /** The percentile is the upper bound of its bucket; of the last bucket, if it lies beyond all. */
  summary(): IntervalSummary {
    if (this.#count === 0) return { mean: Number.NaN, p99: Number.NaN };
    let below = 0;
    const bucket = this.#counts.findIndex((count) => {
      below += count;
      return below >= SHARE * this.#count;
    });
    return { mean: this.#sum / this.#count, p99: this.#bounds.at(bucket) ?? Number.NaN };
  }

  reset(): void {
    this.#counts = this.#bounds.map(() => 0);
    this.#count = 0;
    this.#sum = 0;
  }
}
