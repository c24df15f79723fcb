import { describe, expect, it } from 'vitest';
import { svgPlot } from '../../../bench/support/svg-plot.ts';
import { table } from '../../../bench/support/table.ts';

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
