export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Plot {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly lines: readonly Line[];
}

/** In pixels. The names of the lines stand to the right of `plotted` and widen the image as needed. */
const size = { plotted: 550, height: 420, left: 90, top: 50, bottom: 60 };
const MIN_NAME_WIDTH = 170;
/** Upper bound for 12 px sans-serif. */
const CHARACTER_WIDTH = 6.5;
const LINE_HEIGHT = 14;
const colours = ['#2563eb', '#6b7280', '#dc2626', '#059669', '#9333ea'];

/** A line plot as SVG, with a logarithmic x axis and a linear y axis from 0. */
export function svgPlot({ title, xLabel, yLabel, lines }: Plot): string {
  const points = lines.flatMap((line) => line.points);
  const xs = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b);
  const top = niceCeiling(Math.max(...points.map(([, y]) => y)));
  const place = scales(xs, top);
  const { plotted, height } = size;
  const longestName = Math.max(...lines.map(({ name }) => name.length));
  const width = plotted + Math.max(MIN_NAME_WIDTH, Math.ceil(longestName * CHARACTER_WIDTH) + 20);
  const named = namePlaces(lines, place);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    label(size.left, 28, title, 'start', 16),
    ...xTicks(xs, place),
    ...yTicks(top, place),
    label((size.left + plotted) / 2, height - 16, xLabel),
    `<text transform="translate(18 ${height / 2}) rotate(-90)" text-anchor="middle" fill="#111827">${escaped(yLabel)}</text>`,
    ...lines.flatMap((line, index) => {
      const colour = colours[index % colours.length] ?? '#000000';
      const [x, y] = named[index] ?? [0, 0];
      return [...drawn(line, colour, place), label(x, y, line.name, 'start', 12, colour)];
    }),
    '</svg>',
    '',
  ].join('\n');
}

interface Scales {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

function scales(xs: readonly number[], top: number): Scales {
  const [first = 1, last = 1] = [xs[0], xs.at(-1)];
  const span = Math.log(last / first) || 1;
  const across = size.plotted - size.left;
  const down = size.height - size.top - size.bottom;
  return {
    x: (value) => fixed(size.left + (across * Math.log(value / first)) / span),
    y: (value) => fixed(size.top + down * (1 - value / top)),
  };
}

function xTicks(xs: readonly number[], { x }: Scales): string[] {
  return xs.map((value) => label(x(value), size.height - size.bottom + 20, value.toLocaleString('en-US')));
}

function yTicks(top: number, { y }: Scales): string[] {
  return [0, 0.25, 0.5, 0.75, 1].flatMap((share) => {
    const at = y(share * top);
    const end = size.plotted;
    return [
      `<line x1="${size.left}" y1="${at}" x2="${end}" y2="${at}" stroke="#e5e7eb"/>`,
      label(size.left - 8, at + 4, (share * top).toLocaleString('en-US'), 'end'),
    ];
  });
}

/** Places the names beside the ends of their lines, and moves them down so that none overlaps another. */
function namePlaces(lines: readonly Line[], { x, y }: Scales): (readonly [x: number, y: number])[] {
  const ends = lines.map(({ points }) => points.at(-1) ?? ([1, 0] as const));
  const fromTop = ends.map((_, index) => index).sort((a, b) => (ends[b]?.[1] ?? 0) - (ends[a]?.[1] ?? 0));
  const places: (readonly [number, number])[] = [];
  let least = 0;
  for (const index of fromTop) {
    const [endX, endY] = ends[index] ?? [1, 0];
    const at = Math.max(y(endY) + 4, least);
    places[index] = [x(endX) + 10, at];
    least = at + LINE_HEIGHT;
  }
  return places;
}

function drawn({ points }: Line, colour: string, { x, y }: Scales): string[] {
  const path = points.map(([px, py]) => `${x(px)},${y(py)}`).join(' ');
  return [
    `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    ...points.map(([px, py]) => `<circle cx="${x(px)}" cy="${y(py)}" r="3.5" fill="${colour}"/>`),
  ];
}

function label(x: number, y: number, text: string, anchor = 'middle', px = 12, fill = '#111827'): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" font-size="${px}" fill="${fill}">${escaped(text)}</text>`;
}

/** The next 1, 2, 5 or 10 times a power of ten. */
function niceCeiling(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((step) => step * power >= value) ?? 10) * power;
}

function fixed(value: number): number {
  return Number(value.toFixed(1));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
