import type { MetricsReport } from '../../core/metric-catalogue.ts';

/** All metrics at one moment. */
export interface Sample {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly report: MetricsReport;
}

/** Null where there was nothing to measure. */
export type Reading = number | null;

type Labels = Readonly<Record<string, string>>;

/** The sum of the metric's values that have these labels; null when there are none. */
export function readingOf({ report }: Sample, name: string, labels: Labels = {}): Reading {
  return sumOf(report, name, name, labels);
}

/** Growth of a counter between two samples, per second. After a restart of the service a counter begins at 0 again. */
export function rateOf(before: Sample, after: Sample, name: string, labels: Labels = {}): Reading {
  const from = readingOf(before, name, labels);
  const to = readingOf(after, name, labels);
  if (from === null || to === null || after.time <= before.time) return null;
  return Math.max(0, to - from) / ((after.time - before.time) / 1_000);
}

/** Mean of the values that a histogram observed between two samples, in seconds. */
export function meanOf(before: Sample, after: Sample, name: string): Reading {
  const count = growth(before, after, name, `${name}_count`);
  const sum = growth(before, after, name, `${name}_sum`);
  return count > 0 ? sum / count : null;
}

/** A quantile of the values that a histogram observed between two samples: its bucket's upper bound, in seconds. */
export function quantileOf(before: Sample, after: Sample, name: string, share: number): Reading {
  const bucket = `${name}_bucket`;
  const bounds = [...new Set(family(after.report, name).flatMap(({ labels }) => labels.le ?? []))]
    .map(Number)
    .filter(Number.isFinite)
    .toSorted((a, b) => a - b);
  const all = growth(before, after, name, `${name}_count`);
  if (all <= 0) return null;
  const reaches = (bound: number): boolean =>
    growth(before, after, name, bucket, { le: String(bound) }) >= share * all;
  return bounds.find(reaches) ?? bounds.at(-1) ?? null;
}

function growth(before: Sample, after: Sample, name: string, part: string, labels: Labels = {}): number {
  const from = sumOf(before.report, name, part, labels) ?? 0;
  const to = sumOf(after.report, name, part, labels) ?? 0;
  return Math.max(0, to - from);
}

function sumOf(report: MetricsReport, name: string, part: string, labels: Labels): Reading {
  const found = family(report, name).filter(
    (value) =>
      (value.metricName ?? name) === part &&
      Object.entries(labels).every(([label, wanted]) => String(value.labels[label]) === wanted),
  );
  return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0);
}

function family(report: MetricsReport, name: string): MetricsReport['metrics'][number]['values'] {
  return report.metrics.find((metric) => metric.name === name)?.values ?? [];
}
