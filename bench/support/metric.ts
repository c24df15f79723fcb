/** What a higher value of a metric means, by the unit in its name. */
export type MetricKind = 'rate' | 'cost' | 'size';

export function kindOf(metric: string): MetricKind {
  if (/\/s$/.test(metric)) return 'rate';
  return /(^| )(MB|KB|bytes)\b|^growth$/.test(metric) ? 'size' : 'cost';
}
