import { describe, expect, it } from 'vitest';
import { targetRow } from '../../../bench/support/report.ts';
import {
  excess,
  interleave,
  isLoadBound,
  ratio,
  rowOf,
  seriesOf,
  spreadOf,
} from '../../../bench/support/rounds.ts';
import { percentile, rounded, spread } from '../../../bench/support/statistics.ts';

describe('percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1);

  it('is the value at the nearest rank', () => {
    expect([0.5, 0.95, 0.99, 1].map((share) => percentile(hundred, share))).toEqual([50, 95, 99, 100]);
  });

  it('is the only value when there is one, and NaN of none', () => {
    expect(percentile([7], 0.99)).toBe(7);
    expect(percentile([], 0.5)).toBeNaN();
  });
});

describe('spread', () => {
  it('has the middle of an odd number of values', () => {
    expect(spread([9, 1, 4])).toEqual({ min: 1, median: 4, max: 9 });
  });

  it('has the mean of the two in the middle of an even number', () => {
    expect(spread([8, 2, 4, 100])).toEqual({ min: 2, median: 6, max: 100 });
  });
});

describe('rounded', () => {
  it('keeps three digits, and whole numbers above a thousand', () => {
    expect([0.012345, 12.345, 999.4, 12_345.6].map(rounded)).toEqual([0.0123, 12.3, 999, 12_346]);
  });
});

describe('interleave', () => {
  const a = { name: 'a' };
  const b = { name: 'b' };

  it('measures the subjects in turn, round by round', async () => {
    const order: string[] = [];
    await interleave(2, {}, [a, b], async ({ name }, round) => {
      order.push(`${name}${round}`);
      return { rate: 1 };
    });
    expect(order).toEqual(['a0', 'b0', 'a1', 'b1']);
  });

  it('compares what was measured in the same round', async () => {
    const rates: Record<string, number[]> = { a: [10, 90, 40], b: [20, 100, 400] };
    const all = await interleave(3, { sockets: 5 }, [a, b], async ({ name }, round) => ({
      rate: rates[name]?.[round] ?? 0,
    }));
    const [first, second] = [seriesOf(all, 'a', { sockets: 5 }), seriesOf(all, 'b')];
    expect(ratio(first, second, 'rate')).toEqual({ min: 0.1, median: 0.5, max: 0.9 });
    expect(excess(second, first, 'rate')).toEqual({ min: 10, median: 10, max: 360 });
    expect(rowOf(first)).toEqual({ sockets: 5, subject: 'a', rate: 40 });
  });

  it('refuses to compare what was not measured', () => {
    expect(() => seriesOf([], 'nobody', { sockets: 1 })).toThrow(
      'nothing was measured of nobody with {"sockets":1}',
    );
  });
});

describe('a row whose load generator had no time to spare', () => {
  const of = (subject: string, load: number[]) => ({
    labels: {},
    subject,
    samples: load.map((percent) => ({
      'requests/s': 10,
      'CPU µs/request': 5,
      'p50 ms': 2,
      'CPU ms': 1,
      'RSS MB': 90,
      'load CPU %': percent,
    })),
  });
  const [busy, free] = [of('busy', [50, 95, 99]), of('free', [95, 60, 70])];

  it('says so', () => {
    expect(rowOf(busy)).toMatchObject({ subject: 'busy', limit: 'load generator' });
    expect(rowOf(free)).not.toHaveProperty('limit');
    expect(isLoadBound(of('none', []))).toBe(false);
  });

  it('has no verdict on what goes by the clock, and one on CPU time and memory', () => {
    const bound = (metric: string) => [
      ratio(free, busy, metric).isLoadBound,
      excess(busy, free, metric).isLoadBound,
      spreadOf(busy, metric).isLoadBound,
      spreadOf(free, metric).isLoadBound,
    ];
    for (const metric of ['requests/s', 'p50 ms'])
      expect(bound(metric), metric).toEqual([true, true, true, undefined]);
    for (const metric of ['CPU µs/request', 'CPU ms', 'RSS MB'])
      expect(bound(metric), metric).toEqual([undefined, undefined, undefined, undefined]);
    const target = { what: 'x', wanted: { atLeast: 1 }, measured: ratio(free, busy, 'requests/s') };
    expect(targetRow(target).met).toBe('load generator');
    expect(targetRow({ ...target, measured: ratio(free, busy, 'CPU µs/request') }).met).toBe('yes');
  });
});

describe('a target', () => {
  const measured = { min: 0.4, median: 0.6, max: 0.7 };

  it('is judged by the median', () => {
    expect(targetRow({ what: 'x', wanted: { atLeast: 0.6 }, measured })).toMatchObject({
      wanted: '≥ 0.6',
      met: 'yes',
    });
    expect(targetRow({ what: 'x', wanted: { atMost: 0.5 }, measured })).toMatchObject({
      wanted: '≤ 0.5',
      met: 'no',
    });
  });

  it('is not judged where the figure is only reported', () => {
    expect(targetRow({ what: 'x', measured })).toMatchObject({ wanted: '', median: 0.6, met: '' });
  });
});
