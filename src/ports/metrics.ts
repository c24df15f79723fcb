import type {
  CounterName,
  GaugeName,
  HistogramName,
  LabelsOf,
  MetricFamily,
} from '../core/metric-catalogue.ts';
import type { MetricSamples } from '../core/metric-samples.ts';

/** The present value of a metric, for one combination of labels. */
export interface Reading<N extends CounterName | GaugeName> {
  readonly labels: LabelsOf<N>;
  readonly value: number;
}

/**
 * Metrics for the operator. Most values are read on demand from the component that has them anyway (`read`).
 * Only what no component keeps is recorded as it happens (`add`, `observe`).
 */
export interface Metrics {
  /** Adds to a counter; `by` is 1 if absent. */
  add<N extends CounterName>(name: N, labels: LabelsOf<N>, by?: number): void;
  /** Adds a duration to a histogram. */
  observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, seconds: number): void;
  /** Registers a source that is called whenever the metrics are read. */
  read<N extends CounterName | GaugeName>(name: N, source: ReadingSource<N>): void;
  /**
   * Adds the default metrics of the metrics library for the process and for Node.js. They start with the first reading:
   * a service that nobody reads pays nothing for them.
   */
  addDefaults(): void;
  /** All metrics in the text format of Prometheus. */
  text(): Promise<{ readonly contentType: string; readonly body: string }>;
  /** All metrics as data. */
  families(): Promise<MetricFamily[]>;
}

export type ReadingSource<N extends CounterName | GaugeName> = () =>
  | readonly Reading<N>[]
  | Promise<readonly Reading<N>[]>;

/** Samples of the metrics, taken at regular intervals. */
export interface MetricHistory {
  /** The samples after the one with this number, and the present. All samples if there is no such number yet. */
  since(after: number): Promise<MetricSamples>;
}
