import type {
  CounterName,
  GaugeName,
  HistogramName,
  LabelsOf,
  MetricFamily,
} from '../core/metric-catalogue.ts';

/** One value of a metric as it is now. */
export interface Reading<N extends CounterName | GaugeName> {
  readonly labels: LabelsOf<N>;
  readonly value: number;
}

/**
 * What an operator counts and times. Most metrics are read when somebody asks, from whoever knows them anyway;
 * only what nobody keeps is recorded as it happens.
 */
export interface Metrics {
  /** Adds to a counter; by one when left out. */
  add<N extends CounterName>(name: N, labels: LabelsOf<N>, by?: number): void;
  /** Adds a duration to a histogram. */
  observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, seconds: number): void;
  /** From now on `source` is asked whenever the metrics are read. */
  read<N extends CounterName | GaugeName>(name: N, source: ReadingSource<N>): void;
  /** In the text format of Prometheus, with its content type. */
  text(): Promise<{ readonly contentType: string; readonly body: string }>;
  /** The same as data. */
  families(): Promise<MetricFamily[]>;
}

export type ReadingSource<N extends CounterName | GaugeName> = () =>
  | readonly Reading<N>[]
  | Promise<readonly Reading<N>[]>;
