import type {
  CounterName,
  GaugeName,
  HistogramName,
  LabelsOf,
  MetricFamily,
} from '../../core/metric-catalogue.ts';
import type { Metrics, ReadingSource } from '../../ports/metrics.ts';

/** So many recordings are kept before the library is loaded: a few hundred kilobytes. */
const MAX_KEPT = 2_000;

type Recording = (metrics: Metrics) => void;

/**
 * Loads the metrics library when somebody reads the metrics, or when `MAX_KEPT` recordings wait. Loading takes a tenth
 * of the start, and nobody ever reads the metrics of many instances.
 */
export class DeferredMetrics implements Metrics {
  readonly #load: () => Promise<Metrics>;
  #loading: Promise<Metrics> | null = null;
  #loaded: Metrics | null = null;
  #kept: Recording[] = [];
  /** The library could not be loaded. The next reader tries again; until then no more is kept than the bound. */
  #hasFailed = false;

  constructor(load: () => Promise<Metrics>) {
    this.#load = load;
  }

  add<N extends CounterName>(name: N, labels: LabelsOf<N>, by?: number): void {
    this.#record((metrics) => metrics.add(name, labels, by));
  }

  observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, seconds: number): void {
    this.#record((metrics) => metrics.observe(name, labels, seconds));
  }

  read<N extends CounterName | GaugeName>(name: N, source: ReadingSource<N>): void {
    this.#record((metrics) => metrics.read(name, source));
  }

  addDefaults(): void {
    this.#record((metrics) => metrics.addDefaults());
  }

  async text(): Promise<{ readonly contentType: string; readonly body: string }> {
    return (await this.#ready()).text();
  }

  async families(): Promise<MetricFamily[]> {
    return (await this.#ready()).families();
  }

  #record(recording: Recording): void {
    if (this.#loaded) {
      recording(this.#loaded);
      return;
    }
    if (this.#hasFailed && this.#kept.length >= MAX_KEPT) return;
    this.#kept.push(recording);
    if (this.#kept.length === MAX_KEPT) this.#ready().catch(() => undefined);
  }

  #ready(): Promise<Metrics> {
    this.#loading ??= this.#load().then(
      (metrics) => {
        for (const recording of this.#kept) recording(metrics);
        this.#kept = [];
        this.#loaded = metrics;
        return metrics;
      },
      (error: unknown) => {
        this.#loading = null;
        this.#hasFailed = true;
        throw error;
      },
    );
    return this.#loading;
  }
}
