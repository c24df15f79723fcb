import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelsOf,
  type MetricDeclaration,
  type MetricFamily,
  MetricsReport,
  metricDeclarations,
} from '../../core/metric-catalogue.ts';
import type { Metrics, ReadingSource } from '../../ports/metrics.ts';

/** The metrics of one service, in a registry of its own, because a process may run several services. */
export function prometheusMetrics(): Metrics {
  return new PrometheusMetrics();
}

type ReadName = CounterName | GaugeName;

class PrometheusMetrics implements Metrics {
  readonly #registry = new Registry();
  readonly #counters = new Map<string, Counter>();
  readonly #histograms = new Map<string, Histogram>();
  readonly #refresh = new Map<string, () => Promise<void>>();

  constructor() {
    for (const [name, declaration] of metricDeclarations) this.#register(name, declaration);
  }

  add<N extends CounterName>(name: N, labels: LabelsOf<N>, by = 1): void {
    this.#counters.get(name)?.inc(labels, by);
  }

  observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, seconds: number): void {
    this.#histograms.get(name)?.observe(labels, seconds);
  }

  read<N extends ReadName>(name: N, source: ReadingSource<N>): void {
    const metric = this.#registry.getSingleMetric(name);
    if (!(metric instanceof Counter || metric instanceof Gauge))
      throw new Error(`${name} is not a counter or gauge`);
    this.#refresh.set(name, async () => {
      const readings = await source();
      metric.reset();
      for (const { labels, value } of readings) metric.inc(labels, value);
    });
  }

  async text(): Promise<{ contentType: string; body: string }> {
    await this.#refreshed();
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  async families(): Promise<MetricFamily[]> {
    await this.#refreshed();
    return MetricsReport.shape.metrics.parse(await this.#registry.getMetricsAsJSON());
  }

  async #refreshed(): Promise<void> {
    await Promise.all([...this.#refresh.values()].map((refresh) => refresh()));
  }

  #register(name: string, declaration: MetricDeclaration): void {
    const { help, labels = [], buckets = [] } = declaration;
    const options = { name, help, labelNames: [...labels], registers: [this.#registry] };
    switch (declaration.type) {
      case 'counter':
        this.#counters.set(name, new Counter(options));
        return;
      case 'gauge':
        new Gauge(options);
        return;
      case 'histogram':
        this.#histograms.set(name, new Histogram({ ...options, buckets: [...buckets] }));
        return;
      default:
        declaration.type satisfies never;
    }
  }
}
