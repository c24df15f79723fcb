import type { MetricSamples, MetricSeries, Statistic } from '../../core/metric-samples.ts';

/** Null where there was nothing to measure. */
export type Reading = number | null;

type Labels = Readonly<Record<string, string>>;

/** A present that follows its sample more closely says nothing about a rate. */
const MIN_INTERVAL_MS = 1_000;

/** The known samples, followed by those of the next answer. Its present replaces the present that is known. */
export function merged(known: MetricSamples | null, next: MetricSamples): MetricSamples {
  // After a restart, the service counts its samples from the start.
  if (known === null || next.last < known.last) return next;
  const kept = known.times.length - 1;
  const keys = new Set([...known.series, ...next.series].map(keyOf));
  const [before, after] = [byKey(known), byKey(next)];
  const series = [...keys].flatMap((key) => {
    const one = after.get(key) ?? before.get(key);
    const old = before.get(key)?.values.slice(0, kept) ?? new Array<Reading>(kept).fill(null);
    const fresh = after.get(key)?.values ?? new Array<Reading>(next.times.length).fill(null);
    return one ? [{ ...one, values: [...old, ...fresh] }] : [];
  });
  return { ...next, times: [...known.times.slice(0, kept), ...next.times], series };
}

/** Only what is not older than `spanMs` before the present. */
export function latest(samples: MetricSamples, spanMs: number): MetricSamples {
  const present = Date.parse(samples.times.at(-1) ?? '');
  const first = Math.max(
    0,
    samples.times.findIndex((time) => Date.parse(time) >= present - spanMs),
  );
  const series = samples.series.map((one) => ({ ...one, values: one.values.slice(first) }));
  return { ...samples, times: samples.times.slice(first), series };
}

/** At each time the sum of the series that have these labels. */
export function valuesOf(
  { times, series }: MetricSamples,
  name: string,
  labels: Labels = {},
  statistic: Statistic = 'value',
): Reading[] {
  const chosen = series.filter(
    (one) => one.name === name && one.statistic === statistic && hasLabels(one, labels),
  );
  return times.map((_, index) => {
    const readings = chosen.flatMap(({ values }) => values[index] ?? []);
    return readings.length === 0 ? null : readings.reduce((sum, value) => sum + value, 0);
  });
}

/** The present sum of the series that have these labels; 0 if there are none. */
export function presentOf(samples: MetricSamples, name: string, labels: Labels = {}): number {
  return valuesOf(samples, name, labels).at(-1) ?? 0;
}

/** At each time the growth of a counter since the time before, per second. A restarted service counts from 0. */
export function ratesOf(samples: MetricSamples, name: string, labels: Labels = {}): Reading[] {
  const values = valuesOf(samples, name, labels);
  const times = samples.times.map((time) => Date.parse(time));
  return values.map((to, index) => {
    const from = values[index - 1] ?? null;
    const elapsedMs = (times[index] ?? 0) - (times[index - 1] ?? 0);
    if (index === 0 || from === null || to === null || elapsedMs < MIN_INTERVAL_MS) return null;
    return Math.max(0, to - from) / (elapsedMs / 1_000);
  });
}

function hasLabels(series: MetricSeries, labels: Labels): boolean {
  return Object.entries(labels).every(([label, wanted]) => series.labels[label] === wanted);
}

function byKey({ series }: MetricSamples): Map<string, MetricSeries> {
  return new Map(series.map((one) => [keyOf(one), one]));
}

function keyOf({ name, labels, statistic }: MetricSeries): string {
  return `${name} ${statistic} ${JSON.stringify(labels)}`;
}
