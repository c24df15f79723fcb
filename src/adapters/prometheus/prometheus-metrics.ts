import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
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

/**
 * The metrics of one service, in a registry of its own: one process may host several services.
 * @param labels that every metric has.
 */
export function prometheusMetrics(labels: Readonly<Record<string, string>> = {}): Metrics {
  return new PrometheusMetrics(labels);
}

type ReadName = CounterName | GaugeName;

class PrometheusMetrics implements Metrics {
  readonly #registry = new Registry();
  readonly #counters = new Map<string, Counter>();
  readonly #histograms = new Map<string, Histogram>();
  readonly #refresh = new Map<string, () => Promise<void>>();
  #awaitsDefaults = false;

  constructor(labels: Readonly<Record<string, string>>) {
    this.#registry.setDefaultLabels(labels);
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
      // `reset` sets a metric without labels to 0, which would be a reading.
      if (readings.length === 0 && (metricDeclarations.get(name)?.labels ?? []).length === 0) metric.remove();
      for (const { labels, value } of readings) metric.inc(labels, value);
    });
  }

  addDefaults(): void {
    this.#awaitsDefaults = true;
  }

  async text(): Promise<{ contentType: string; body: string }> {
    await this.#refreshed();
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }

  async families(): Promise<MetricFamily[]> {
    await this.#refreshed();
    const families = await this.#registry.getMetricsAsJSON();
    // prom-client's event loop metrics are NaN before their first sample, and JSON has no NaN.
    const shown = families.map(({ values, ...family }) => {
      return { ...family, values: values.filter(({ value }) => Number.isFinite(value)) };
    });
    return MetricsReport.shape.metrics.parse(shown);
  }

  async #refreshed(): Promise<void> {
    if (this.#awaitsDefaults) this.#startDefaults();
    await Promise.all([...this.#refresh.values()].map((refresh) => refresh()));
  }

  /** From now on prom-client watches the event loop and the garbage collector. */
  #startDefaults(): void {
    this.#awaitsDefaults = false;
    const defaults = new Registry();
    collectDefaultMetrics({ register: defaults });
    addPastCpuTime(defaults);
    for (const { name } of defaults.getMetricsAsArray()) {
      const metric = defaults.getSingleMetric(name);
      // A metric that the service reads itself stays: `process_heap_bytes` means something else in prom-client.
      if (!metric || this.#refresh.has(name)) continue;
      this.#registry.removeSingleMetric(name);
      this.#registry.registerMetric(metric);
    }
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

/** prom-client's counters of CPU time begin when collecting begins. This adds the time since the process started. */
function addPastCpuTime(defaults: Registry): void {
  const { user, system } = process.cpuUsage();
  const pastMicroseconds = {
    process_cpu_user_seconds_total: user,
    process_cpu_system_seconds_total: system,
  };
  for (const [name, microseconds] of Object.entries(pastMicroseconds)) {
    const counter = defaults.getSingleMetric(name);
    if (counter instanceof Counter) counter.inc(microseconds / 1e6);
  }
}
