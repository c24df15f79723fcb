import { describe, expect, it } from 'vitest';
import { svgPlot } from '../../../bench/support/svg-plot.ts';
import { table } from '../../../bench/support/table.ts';
import { targetsMarkdown, targetsOfRuns } from '../../../bench/support/target-table.ts';

describe('table', () => {
  it('puts text to the left, numbers to the right, and leaves blank what a row does not have', () => {
    const rows = [
      { subject: 'floor', rate: 12_345 },
      { subject: 'agent-service', rate: 7, note: 'warm' },
    ];
    expect(table(rows).split('\n')).toEqual([
      'subject          rate  note',
      '-------------  ------  ----',
      'floor          12,345',
      'agent-service       7  warm',
    ]);
  });

  it('shows what could not be measured as a dash', () => {
    expect(table([{ rate: Number.NaN }])).toBe('rate\n----\n   -');
  });
});

describe('the table of targets', () => {
  const target = (median: number, more = {}) => ({
    what: 'requests/s relative to the floor',
    wanted: { atLeast: 0.15 },
    measured: { min: median / 2, median, max: median * 2, ...more },
  });
  const runsOf = (...targets: ReturnType<typeof target>[]) =>
    targets.map((one) => [{ bench: 'sync', targets: [one] }]);

  it('has the median of the medians, and the least and the most of all rounds', () => {
    expect(targetsOfRuns(runsOf(target(0.2), target(0.1), target(0.3)))).toEqual([
      {
        bench: 'sync',
        what: 'requests/s relative to the floor',
        wanted: '≥ 0.15',
        measured: { min: 0.05, median: 0.2, max: 0.6 },
        verdict: 'met',
      },
    ]);
  });

  it('has no verdict where the load generator was the limit in most runs', () => {
    const bound = target(0.2, { isLoadBound: true });
    const verdicts = [runsOf(bound, bound, target(0.2)), runsOf(bound, target(0.1), target(0.1))].map(
      (runs) => targetsOfRuns(runs)[0]?.verdict,
    );
    expect(verdicts).toEqual(['load generator', 'not met']);
  });

  it('keeps what only some runs have, and what is only reported', () => {
    const reported = { what: 'ms more', measured: { min: 1_000, median: 2_345.6, max: 31_000 } };
    const runs = [
      [
        { bench: 'sync', targets: [target(0.2)] },
        { bench: 'mcp', targets: [reported] },
      ],
      [{ bench: 'sync', targets: [target(0.1)] }],
    ];
    const markdown = targetsMarkdown(targetsOfRuns(runs), 2);
    expect(markdown).toContain('`npm run bench -- --runs 2`');
    expect(markdown.trimEnd().split('\n').slice(-4)).toEqual([
      '| bench | what | target | min | median | max | |',
      '|---|---|---|---|---|---|---|',
      '| sync | requests/s relative to the floor | ≥ 0.15 | 0.05 | 0.15 | 0.4 | met |',
      '| mcp | ms more |  | 1000 | 2346 | 31,000 |  |',
    ]);
  });
});

describe('svgPlot', () => {
  const plot = {
    title: 'a < b & c',
    xLabel: 'streams',
    yLabel: 'chunks/s',
    lines: [
      {
        name: 'floor',
        points: [
          [1, 0],
          [10, 50],
          [100, 100],
        ],
      },
    ],
  } as const;

  /** The points of the first line, as they are drawn. */
  function drawnPoints(svg: string): number[][] {
    const [, points = ''] = /<polyline points="([^"]+)"/.exec(svg) ?? [];
    return points.split(' ').map((point) => point.split(',').map(Number));
  }

  it('draws equal factors of x as equal distances, and y from 0', () => {
    const [[x1 = 0, y1 = 0] = [], [x2 = 0, y2 = 0] = [], [x3 = 0, y3 = 0] = []] = drawnPoints(svgPlot(plot));
    expect(x2 - x1).toBeGreaterThan(50);
    expect(x3 - x2).toBeCloseTo(x2 - x1, 0);
    expect(y1 - y2).toBeCloseTo(y2 - y3, 0);
    expect(y1).toBe(360);
  });

  it('ends the y axis at a round number above every value', () => {
    const svg = svgPlot({ ...plot, lines: [{ name: 'x', points: [[1, 130]] }] });
    expect(svg).toContain('>200</text>');
  });

  it('escapes what people write', () => {
    expect(svgPlot(plot)).toContain('a &lt; b &amp; c');
  });

  it('names lines that end at the same height below each other, each in full', () => {
    const name = 'plain: JSON lines, one fdatasync a batch';
    const points = [[1, 100]] as const;
    const svg = svgPlot({ ...plot, lines: [name, 'two', 'three'].map((each) => ({ name: each, points })) });
    const heights = [name, 'two', 'three'].map((each) =>
      Number(new RegExp(`y="([\\d.]+)"[^>]*>${each}<`).exec(svg)?.[1]),
    );
    expect(heights).toEqual([54, 68, 82]);
    expect(Number(/viewBox="0 0 (\d+) /.exec(svg)?.[1])).toBeGreaterThan(550 + 6 * name.length);
  });

  it('places a single point without dividing by nothing', () => {
    expect(svgPlot({ ...plot, lines: [{ name: 'x', points: [[10, 1]] }] })).not.toMatch(/NaN|Infinity/);
  });
});
