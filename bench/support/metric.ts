/** The CPU use of the process that makes the load, of one core. */
export const LOAD_CPU = 'load CPU %';

/** What a higher value of a metric means, by the unit in its name. */
export type MetricKind = 'rate' | 'cost' | 'size';

/** Whether a load generator without time to spare limits the metric. It does not change CPU times and sizes. */
export function isByTheClock(metric: string): boolean {
  return kindOf(metric) === 'rate' || (/ ms$/.test(metric) && !/\bCPU\b/.test(metric));
}

export function kindOf(metric: string): MetricKind {
  if (/\/s$/.test(metric)) return 'rate';
  return /(^| )(MB|KB|bytes)\b|^growth$/.test(metric) ? 'size' : 'cost';
}
