import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkOut, UnknownRef } from '../../../bench/support/check-out.ts';
import { compare } from '../../../bench/support/compare.ts';
import { differences, NO_DIFFERENCE } from '../../../bench/support/differences.ts';
import { pairedRatio, studentQuantile } from '../../../bench/support/paired-ratio.ts';
import { interleave, type Sample, type Series } from '../../../bench/support/rounds.ts';
import type { Scope } from '../../../bench/support/scope.ts';
import { thisCheckout } from '../../../bench/support/version.ts';

describe("Student's quantile", () => {
  it.each([
    [0.95, 1, 12.706],
    [0.95, 2, 4.303],
    [0.95, 5, 2.571],
    [0.999, 5, 6.869],
    [0.99, 10, 3.169],
    [0.95, 1_000, 1.962],
  ])('is that of the tables: %d with %d degrees of freedom', (probability, degrees, table) => {
    expect(studentQuantile(probability, degrees)).toBeCloseTo(table, 3);
  });
});

describe('a paired ratio', () => {
  it('is the same in both directions', () => {
    const pairs = [
      [10, 11],
      [20, 19],
      [15, 18],
    ] as const;
    const there = pairedRatio(pairs, 0.95);
    const back = pairedRatio(
      pairs.map(([of, to]) => [to, of] as const),
      0.95,
    );
    expect(there.median).toBeCloseTo(1 / back.median);
    expect(there.low).toBeCloseTo(1 / back.high);
  });

  it('has an interval that one disturbed pair makes wide', () => {
    const steady = Array.from({ length: 6 }, (_, index) => [110 + index, 100 + index] as const);
    expect(pairedRatio(steady, 0.95).low).toBeGreaterThan(1);
    const disturbed = [...steady.slice(1), [40, 100] as const];
    expect(pairedRatio(disturbed, 0.95)).toMatchObject({ median: expect.closeTo(1.1, 1) });
    expect(pairedRatio(disturbed, 0.95).low).toBeLessThan(1);
  });
});

describe('the differences of two versions', () => {
  /** The machine is slower in some rounds, for both versions. */
  const rounds = [1, 0.5, 0.9, 1.1, 0.7, 1];
  const wobble = [1.02, 0.99, 1.01, 0.98, 1, 1.01];

  function measuredOf(ref: string | undefined, one: (round: number) => Sample): Series {
    return {
      labels: { sockets: 5 },
      subject: 'agent-service',
      ref,
      samples: rounds.map((_, round) => one(round)),
    };
  }

  function sampleOf(factor: number): (round: number) => Sample {
    return (round) => {
      const speed = (rounds[round] ?? 1) * (wobble[round] ?? 1);
      return {
        'requests/s': (1_000 * speed) / factor,
        'CPU µs/request': (100 * factor) / speed,
        'p50 ms': factor / speed,
        'p99 ms': 7,
        'RSS MB': 90 * factor * (wobble[round] ?? 1),
        'load CPU %': 50,
      };
    };
  }

  const plainly = (round: number): Sample => {
    const speed = rounds[round] ?? 1;
    return {
      'requests/s': 1_000 * speed,
      'CPU µs/request': 100 / speed,
      'p50 ms': 1 / speed,
      'RSS MB': 90,
    };
  };

  function verdicts(factor: number): string[] {
    const rows = differences([measuredOf(undefined, sampleOf(factor)), measuredOf('v1', plainly)], 'v1');
    return rows.map(({ metric, verdict }) => `${metric}: ${verdict}`);
  }

  it('are none where only the machine differed', () => {
    expect(verdicts(1)).toEqual(
      ['requests/s', 'CPU µs/request', 'p50 ms', 'RSS MB'].map((metric) => `${metric}: ${NO_DIFFERENCE}`),
    );
  });

  it('are named by what they mean', () => {
    expect(verdicts(1.3)).toEqual([
      'requests/s: slower',
      'CPU µs/request: slower',
      'p50 ms: slower',
      'RSS MB: larger',
    ]);
    expect(verdicts(0.7)).toEqual([
      'requests/s: faster',
      'CPU µs/request: faster',
      'p50 ms: faster',
      'RSS MB: smaller',
    ]);
  });

  it('are not told of a rate that the load generator limited', () => {
    const busy = (one: (round: number) => Sample) => (round: number) => ({ ...one(round), 'load CPU %': 97 });
    const series = [measuredOf(undefined, busy(sampleOf(2))), measuredOf('v1', plainly)];
    expect(differences(series, 'v1').map(({ verdict }) => verdict)).toEqual([
      'load generator',
      'slower',
      'load generator',
      'larger',
    ]);
  });

  it('show both values, the ratio and its interval', () => {
    const series = [measuredOf(undefined, sampleOf(2)), measuredOf('v1', plainly)];
    const [row] = differences(series, 'v1');
    expect(row).toMatchObject({
      sockets: 5,
      subject: 'agent-service',
      v1: 950,
      ratio: expect.closeTo(0.5, 1),
    });
    expect(Number(row?.from)).toBeLessThan(0.5);
    expect(Number(row?.to)).toBeGreaterThan(0.5);
  });

  it('need wider intervals the more rows there are, because one in twenty would differ by chance', () => {
    const wide = (metrics: number): number => {
      const one = (round: number): Sample =>
        Object.fromEntries(
          Array.from({ length: metrics }, (_, index) => [`${index} ms`, wobble[round] ?? 1]),
        );
      const other = (): Sample => one(4);
      return Number(differences([measuredOf(undefined, one), measuredOf('v1', other)], 'v1')[0]?.to);
    };
    expect(wide(40)).toBeGreaterThan(wide(1));
  });

  it('cannot be told without positive values', () => {
    const nothing = () => ({ 'bytes/socket': 0, 'CPU µs/request': Number.NaN });
    const rows = differences([measuredOf(undefined, nothing), measuredOf('v1', nothing)], 'v1');
    expect(rows.map(({ verdict }) => verdict)).toEqual(['not comparable', 'not comparable']);
  });

  it('need both versions', () => {
    expect(() => differences([measuredOf(undefined, plainly)], 'v1')).toThrow('but not of v1');
  });
});

describe('a comparison', () => {
  it('takes the median of the turns of a round', async () => {
    const there = { root: '/elsewhere/', ref: 'v1' };
    const values = new Map([
      [undefined, [5, 1, 3, 40, 20, 30]],
      ['v1', [7, 9, 8, 50, 70, 60]],
    ]);
    const bench = {
      question: '',
      run: async (scope: Scope) => {
        const subjects = scope.versions.map(({ ref }) => ({ name: 'agent-service', ref }));
        const turns = scope.rounds(2) * scope.turns(3);
        const series = await interleave(turns, {}, subjects, async ({ ref }) => ({
          ms: values.get(ref)?.shift() ?? Number.NaN,
        }));
        return { series };
      },
    };
    const series = await compare(bench, { versions: [thisCheckout, there], rounds: 2 }, { quick: false });
    expect(series.map(({ ref, samples }) => [ref, samples])).toEqual([
      [undefined, [{ ms: 3 }, { ms: 30 }]],
      ['v1', [{ ms: 8 }, { ms: 60 }]],
    ]);
  });

  it('measures both versions in each round, in alternating order, and keeps their samples apart', async () => {
    const order: string[] = [];
    const there = { root: '/elsewhere/', ref: 'v1' };
    const bench = {
      question: '',
      run: async (scope: { versions: readonly { ref?: string }[]; rounds: (wanted: number) => number }) => {
        const subjects = scope.versions.map(({ ref }) => ({ name: 'agent-service', ref }));
        const series = await interleave(scope.rounds(3), {}, subjects, async ({ ref }) => {
          order.push(ref ?? 'here');
          return { place: order.length };
        });
        return { series };
      },
    };
    const series = await compare(bench, { versions: [thisCheckout, there], rounds: 3 }, { quick: false });
    expect(order).toEqual(['here', 'v1', 'v1', 'here', 'here', 'v1']);
    expect(series.map(({ ref, samples }) => [ref, samples.map(({ place }) => place)])).toEqual([
      [undefined, [1, 4, 5]],
      ['v1', [2, 3, 6]],
    ]);
  });
});

describe('another version', () => {
  it('is checked out with the same packages, and leaves nothing behind', async () => {
    const version = await checkOut('HEAD');
    try {
      expect(existsSync(join(version.root, 'src/app/main.ts'))).toBe(true);
      expect(lstatSync(join(version.root, 'node_modules')).isSymbolicLink()).toBe(true);
      expect(realpathSync(join(version.root, 'node_modules'))).toBe(
        realpathSync(join(thisCheckout.root, 'node_modules')),
      );
    } finally {
      version.remove();
    }
    expect(existsSync(version.root)).toBe(false);
    expect(existsSync(join(thisCheckout.root, 'node_modules/vitest'))).toBe(true);
  });

  it('is refused by its name when there is none', async () => {
    const refused = checkOut('no-such-commit');
    await expect(refused).rejects.toBeInstanceOf(UnknownRef);
    await expect(refused).rejects.toThrow('there is no commit no-such-commit');
    await expect(checkOut('--all')).rejects.toThrow('there is no commit --all');
  });
});
