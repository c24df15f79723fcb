import { z } from 'zod';
import { Timestamp } from './timestamp.ts';

/** What a value of a series is. Of a histogram, the mean and the 99th percentile of one interval are kept. */
export const Statistic = z.enum(['value', 'mean', 'p99']);
export type Statistic = z.infer<typeof Statistic>;

/** One metric with one combination of labels, at every time of the answer. */
export const MetricSeries = z.object({
  name: z.string().describe('As in `/metrics`.'),
  labels: z.record(z.string(), z.string()),
  statistic: Statistic.describe(
    '`value`: as `/metrics` shows it, so counters count from the start of the service. `mean` and `p99`: of what a histogram observed since the previous time, in seconds; `p99` is the upper bound of its bucket.',
  ),
  values: z.array(z.number().nullable()).describe('One for each time; null where nothing was measured.'),
});
export type MetricSeries = z.infer<typeof MetricSeries>;

/** The metrics of the last hour, in columns: the values of each series are in the order of `times`. */
export const MetricSamples = z.object({
  intervalMs: z.int().describe('Time between two samples, in milliseconds.'),
  last: z.int().describe('Number of the last sample. Send it as `after` to get the later ones only.'),
  times: z.array(Timestamp).describe('Oldest first. The last one is the present, which is not a sample.'),
  series: z.array(MetricSeries),
});
export type MetricSamples = z.infer<typeof MetricSamples>;
