import { describe, expect, it } from 'vitest';
import {
  latest,
  merged,
  presentOf,
  type Reading,
  ratesOf,
  valuesOf,
} from '../../../src/console/health/samples.ts';
import type { MetricSamples, MetricSeries } from '../../../src/core/metric-samples.ts';

const START = Date.parse('2026-11-22T12:00:00.000Z');

/** Samples at these seconds. Each series is named by `name` or `name kind`. */
function samples(
  last: number,
  seconds: readonly number[],
  series: Readonly<Record<string, readonly Reading[]>>,
): MetricSamples {
  return {
    intervalMs: 10_000,
    last,
    times: seconds.map((second) => new Date(START + second * 1_000).toISOString()),
    series: Object.entries(series).map(([key, values]): MetricSeries => {
      const [name = '', kind] = key.split(' ');
      return { name, labels: kind === undefined ? {} : { kind }, statistic: 'value', values: [...values] };
    }),
  };
}

describe('the values of a metric', () => {
  const kinds = samples(2, [0, 10], { 'm a': [2, 4], 'm b': [3, null] });

  it('are the sum of what has the labels', () => {
    expect(valuesOf(kinds, 'm')).toEqual([5, 4]);
    expect(valuesOf(kinds, 'm', { kind: 'a' })).toEqual([2, 4]);
    expect(presentOf(kinds, 'm')).toBe(4);
  });

  it('are null where nothing was measured; the present is then 0', () => {
    expect(valuesOf(kinds, 'm', { kind: 'b' })).toEqual([3, null]);
    expect(valuesOf(kinds, 'other')).toEqual([null, null]);
    expect(valuesOf(kinds, 'm', {}, 'p99')).toEqual([null, null]);
    expect(presentOf(kinds, 'm', { kind: 'c' })).toBe(0);
  });
});

describe('a rate', () => {
  it('is the growth in each second', () => {
    expect(ratesOf(samples(3, [0, 10, 14], { m: [10, 30, 32] }), 'm')).toEqual([null, 2, 0.5]);
  });

  it('is 0 after a restart, and null beside a gap or when too little time has passed', () => {
    expect(ratesOf(samples(3, [0, 10, 20], { m: [10, 1, 2] }), 'm')).toEqual([null, 0, 0.1]);
    expect(ratesOf(samples(3, [0, 10, 20], { m: [10, null, 2] }), 'm')).toEqual([null, null, null]);
    expect(ratesOf(samples(2, [0, 0.5], { m: [1, 2] }), 'm')).toEqual([null, null]);
  });
});

describe('a later answer', () => {
  it('is added to what is known, and its present replaces the other one', () => {
    const known = samples(2, [0, 10, 13], { m: [1, 2, 3] });
    const joined = merged(known, samples(3, [20, 21], { m: [4, 5] }));
    expect(joined).toEqual(samples(3, [0, 10, 20, 21], { m: [1, 2, 4, 5] }));
  });

  it('may begin a series, and may end one', () => {
    const joined = merged(samples(1, [0, 5], { old: [1, 2] }), samples(2, [10, 11], { young: [3, 4] }));
    expect(joined).toEqual(samples(2, [0, 10, 11], { old: [1, null, null], young: [null, 3, 4] }));
  });

  it('of a service that was restarted is all that is known', () => {
    const restarted = samples(1, [20, 21], { m: [0, 0] });
    expect(merged(samples(9, [0, 10], { m: [1, 2] }), restarted)).toEqual(restarted);
  });
});

it('shows a part of the hour', () => {
  const hour = samples(4, [0, 10, 20, 25], { m: [1, 2, 3, 4] });
  expect(latest(hour, 15_000)).toEqual(samples(4, [10, 20, 25], { m: [2, 3, 4] }));
  expect(latest(hour, 60_000)).toEqual(hour);
});
