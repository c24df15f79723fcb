import { type MetricFamily, MetricsReport } from '../../../src/core/metric-catalogue.ts';
import type { Metrics } from '../../../src/ports/metrics.ts';

/** What the metrics say, by name; labels and, in a histogram, the part stand behind the name. */
export class MetricValues {
  readonly #values: ReadonlyMap<string, number>;

  constructor(families: readonly MetricFamily[]) {
    const entries = families.flatMap(({ name, values }) =>
      values.map(
        ({ metricName = name, labels, value }) => [`${metricName}${labelText(labels)}`, value] as const,
      ),
    );
    this.#values = new Map(entries);
  }

  static async of(metrics: Metrics): Promise<MetricValues> {
    return new MetricValues(await metrics.families());
  }

  /** From a service. */
  static async at(url: string): Promise<MetricValues> {
    const response = await fetch(`${url}/metrics`, { headers: { Accept: 'application/json' } });
    return new MetricValues(MetricsReport.parse(await response.json()).metrics);
  }

  /** @param series such as `agent_turns_total{outcome=failed}`. */
  value(series: string): number | undefined {
    return this.#values.get(series);
  }

  get series(): string[] {
    return [...this.#values.keys()];
  }
}

function labelText(labels: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
