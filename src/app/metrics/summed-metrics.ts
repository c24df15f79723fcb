import type {
  CounterName,
  GaugeName,
  HistogramName,
  LabelsOf,
  MetricFamily,
} from '../../core/metric-catalogue.ts';
import type { Metrics, Reading, ReadingSource } from '../../ports/metrics.ts';

type ReadName = CounterName | GaugeName;

/** Metrics of several agents: what each of them has under a name and labels is added up. */
export class SummedMetrics implements Metrics {
  readonly #metrics: Metrics;
  readonly #sources = new Map<ReadName, ReadingSource<ReadName>[]>();

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
    const known = this.#sources.get(name);
    if (known) {
      known.push(source);
      return;
    }
    const sources: ReadingSource<ReadName>[] = [source];
    this.#sources.set(name, sources);
    this.#metrics.read(name, async () => summed((await Promise.all(sources.map((read) => read()))).flat()));
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

function summed<N extends ReadName>(readings: readonly Reading<N>[]): Reading<N>[] {
  const byLabels = new Map<string, Reading<N>>();
  for (const reading of readings) {
    const key = JSON.stringify(reading.labels);
    const value = reading.value + (byLabels.get(key)?.value ?? 0);
    byLabels.set(key, { ...reading, value });
  }
  return [...byLabels.values()];
}
