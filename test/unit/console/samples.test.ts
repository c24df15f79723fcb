import { describe, expect, it } from 'vitest';
import { meanOf, quantileOf, rateOf, readingOf, type Sample } from '../../../src/console/health/samples.ts';

type Values = Sample['report']['metrics'][number]['values'];

const sample = (time: number, values: Values, name = 'm'): Sample => ({
  time,
  report: { metrics: [{ name, help: '', type: 'counter', values }], timestamp: '' },
});
const value = (of: number, labels: Record<string, string | number> = {}) => ({ value: of, labels });
/** A histogram of which so many observations lie below 1, 2 and 4 seconds. */
const histogram = (time: number, below: readonly [number, number, number], sum: number): Sample =>
  sample(time, [
    ...[1, 2, 4].map((le, index) => ({ ...value(below[index] ?? 0, { le }), metricName: 'm_bucket' })),
    { ...value(below[2], { le: '+Inf' }), metricName: 'm_bucket' },
    { ...value(sum), metricName: 'm_sum' },
    { ...value(below[2]), metricName: 'm_count' },
  ]);

describe('a reading', () => {
  const kinds = sample(0, [value(2, { kind: 'a' }), value(3, { kind: 'b' })]);

  it('adds up what has the labels', () => {
    expect(readingOf(kinds, 'm')).toBe(5);
    expect(readingOf(kinds, 'm', { kind: 'b' })).toBe(3);
  });

  it('is null when there is no such metric, and none with these labels', () => {
    expect(readingOf(kinds, 'other')).toBeNull();
    expect(readingOf(kinds, 'm', { kind: 'c' })).toBeNull();
  });
});

describe('a rate', () => {
  it('is the growth in each second', () => {
    expect(rateOf(sample(1_000, [value(10)]), sample(3_000, [value(16)]), 'm')).toBe(3);
  });

  it('is not negative when the service has restarted, and null without time between', () => {
    expect(rateOf(sample(0, [value(10)]), sample(1_000, [value(1)]), 'm')).toBe(0);
    expect(rateOf(sample(0, [value(1)]), sample(0, [value(2)]), 'm')).toBeNull();
  });
});

describe('a histogram between two samples', () => {
  const before = histogram(0, [10, 10, 10], 5);
  const after = histogram(1_000, [10, 13, 14], 15);

  it('has a mean of what came between', () => {
    expect(meanOf(before, after, 'm')).toBe(2.5);
  });

  it('has quantiles: the bound below which that share lies', () => {
    expect(quantileOf(before, after, 'm', 0.5)).toBe(2);
    expect(quantileOf(before, after, 'm', 0.99)).toBe(4);
  });

  it('has neither when nothing came', () => {
    expect(meanOf(after, after, 'm')).toBeNull();
    expect(quantileOf(after, after, 'm', 0.5)).toBeNull();
  });
});
