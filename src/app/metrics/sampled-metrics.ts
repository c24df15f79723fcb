import { type HistogramName, type LabelsOf, metricDeclarations } from '../../core/metric-catalogue.ts';
import type { Statistic } from '../../core/metric-samples.ts';
import type { ReadingSource } from '../../ports/metrics.ts';
import { ForwardingMetrics, type ReadName } from './forwarding-metrics.ts';
import { IntervalHistogram } from './interval-histogram.ts';

/** One number of a sample. */
export interface SampledReading {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly statistic: Statistic;
  readonly value: number;
}

/** Passes all metrics on, and can be read without the metrics library: the library need not be loaded for samples. */
export class SampledMetrics extends ForwardingMetrics {
  readonly #sources = new Map<ReadName, ReadingSource<ReadName>>();
  readonly #histograms = new Map<HistogramName, IntervalHistogram>();

  override observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, seconds: number): void {
    super.observe(name, labels, seconds);
    let histogram = this.#histograms.get(name);
    if (!histogram) {
      histogram = new IntervalHistogram(metricDeclarations.get(name)?.buckets ?? []);
      this.#histograms.set(name, histogram);
    }
    histogram.observe(seconds);
  }

  override read<N extends ReadName>(name: N, source: ReadingSource<N>): void {
    super.read(name, source);
    this.#sources.set(name, source);
  }

  /** Everything that can be read now, and what the histograms observed since `startInterval`. */
  async readings(): Promise<SampledReading[]> {
    const read = [...this.#sources].map(async ([name, source]) =>
      (await source()).map(({ labels, value }) => ({ name, labels, statistic: 'value' as const, value })),
    );
    const observed = [...this.#histograms].flatMap(([name, histogram]) => {
      const { mean, p99 } = histogram.summary();
      const of = { name, labels: {} };
      return [
        { ...of, statistic: 'mean' as const, value: mean },
        { ...of, statistic: 'p99' as const, value: p99 },
      ];
    });
    return [...(await Promise.all(read)).flat(), ...observed];
  }

  /** From now on, the histograms observe anew. */
  startInterval(): void {
    for (const histogram of this.#histograms.values()) histogram.reset();
  }
}
