import type {
  CounterName,
  GaugeName,
  HistogramName,
  LabelsOf,
  MetricFamily,
} from '../../core/metric-catalogue.ts';
import type { Metrics, ReadingSource } from '../../ports/metrics.ts';

export type ReadName = CounterName | GaugeName;

/** Passes everything on to the metrics. Whoever wraps metrics extends this with what is different there. */
export class ForwardingMetrics implements Metrics {
  readonly #metrics: Metrics;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  add<N extends CounterName>(name: N, labels: LabelsOf<N>, by?: number): void {
    this.#metrics.add(name, labels, by);
  }

  observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, seconds: number): void {
    this.#metrics.observe(name, labels, seconds);
  }

  read<N extends ReadName>(name: N, source: ReadingSource<N>): void {
    this.#metrics.read(name, source);
  }

  addDefaults(): void {
    this.#metrics.addDefaults();
  }

  text(): Promise<{ readonly contentType: string; readonly body: string }> {
    return this.#metrics.text();
  }

  families(): Promise<MetricFamily[]> {
    return this.#metrics.families();
  }
}
