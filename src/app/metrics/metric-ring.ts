import type { MetricSamples, MetricSeries } from '../../core/metric-samples.ts';
import type { Logger } from '../../ports/logger.ts';
import type { MetricHistory } from '../../ports/metrics.ts';
import type { SampledMetrics, SampledReading } from './sampled-metrics.ts';

export const SAMPLE_INTERVAL_MS = 10_000;
/** One hour. */
export const MAX_SAMPLES = 360;

interface Sample {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** By the index of the series. A series that came later has no value. */
  readonly values: readonly number[];
}

type Series = Omit<MetricSeries, 'values'>;

/**
 * The metrics of the last hour, every ten seconds, in memory. A sample is an array of some fifty numbers: about 150 KB
 * when the hour is full.
 */
export class MetricRing implements MetricHistory, Disposable {
  readonly #metrics: SampledMetrics;
  readonly #log: Logger;
  readonly #series: Series[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #samples: Sample[] = [];
  #taken = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(metrics: SampledMetrics, log: Logger) {
    this.#metrics = metrics;
    this.#log = log;
  }

  /** Takes a first sample at once, so that a page opened soon has two points to draw a line between. */
  start(): void {
    void this.sample();
    this.#timer = setInterval(() => void this.sample(), SAMPLE_INTERVAL_MS).unref();
  }

  /** Never rejects: a sample that cannot be taken is left out. */
  async sample(): Promise<void> {
    try {
      const sample = this.#sampleOf(await this.#metrics.readings());
      this.#metrics.startInterval();
      this.#samples.push(sample);
      this.#taken += 1;
      if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
    } catch (error) {
      this.#log.warn({ err: error }, 'the metrics could not be sampled');
    }
  }

  async since(after: number): Promise<MetricSamples> {
    const present = this.#sampleOf(await this.#metrics.readings());
    const isKnown = after <= this.#taken;
    const news = isKnown ? Math.min(this.#taken - after, this.#samples.length) : this.#samples.length;
    const samples = [...this.#samples.slice(this.#samples.length - news), present];
    return {
      intervalMs: SAMPLE_INTERVAL_MS,
      last: this.#taken,
      times: samples.map(({ time }) => new Date(time).toISOString()),
      series: this.#series.map((series, index) => ({
        ...series,
        values: samples.map(({ values }) => shown(values[index])),
      })),
    };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #sampleOf(readings: readonly SampledReading[]): Sample {
    const values = readings.reduce<number[]>((known, reading) => {
      known[this.#indexOf(reading)] = reading.value;
      return known;
    }, new Array(this.#series.length).fill(Number.NaN));
    return { time: Date.now(), values };
  }

  #indexOf({ name, labels, statistic }: SampledReading): number {
    const key = `${name} ${statistic} ${JSON.stringify(labels)}`;
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    this.#indexes.set(key, this.#series.length);
    return this.#series.push({ name, labels, statistic }) - 1;
  }
}

/** Null where nothing was measured. A microsecond is exact enough. */
function shown(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : Math.round(value * 1e6) / 1e6;
}
