import type {
  CounterName,
  GaugeName,
  HistogramName,
  LabelsOf,
  MetricFamily,
} from '../core/metric-catalogue.ts';

/** The present value of a metric, for one combination of labels. */
export interface Reading<N extends CounterName | GaugeName> {
  readonly labels: LabelsOf<N>;
  readonly value: number;
}

/**
 * The metrics of the service. Most are read from their source when somebody asks; only values that nobody keeps are
 * recorded as they happen.
 */
export interface Metrics {
  /** Adds to a counter, 1 by default. */
  add<N extends CounterName>(name: N, labels: LabelsOf<N>, by?: number): void;
  /** Adds a duration to a histogram. */
  observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, seconds: number): void;
  /** Asks `source` for the values of the metric at each reading. */
  read<N extends CounterName | GaugeName>(name: N, source: ReadingSource<N>): void;
  /**
   * Adds the default metrics of the metrics library for the process and for Node.js. They start with the first reading:
   * a service that nobody reads pays nothing for them.
   */
  addDefaults(): void;
  /** In the text format of Prometheus, with its content type. */
  text(): Promise<{ readonly contentType: string; readonly body: string }>;
  /** The same as data. */
  families(): Promise<MetricFamily[]>;
}

export type ReadingSource<N extends CounterName | GaugeName> = () =>
  | readonly Reading<N>[]
  | Promise<readonly Reading<N>[]>;
