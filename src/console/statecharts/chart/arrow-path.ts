import type { Point } from './chart-layout.ts';

const RADIUS = 8;
const HEAD_LENGTH = 8;
const HEAD_WIDTH = 4;

/** An SVG path through the points, with rounded corners. */
export function roundedPath(points: readonly Point[]): string {
  return points
    .map((point, index) => {
      const before = points[index - 1];
      const after = points[index + 1];
      if (!before) return `M${text(point)}`;
      if (!after) return `L${text(point)}`;
      const radius = Math.min(RADIUS, distance(before, point) / 2, distance(point, after) / 2);
      return `L${text(towards(point, before, radius))} Q${text(point)} ${text(towards(point, after, radius))}`;
    })
    .join(' ');
}

/** The triangle at the end of the path. */
export function arrowHead(points: readonly Point[]): string {
  const tip = points.at(-1);
  const before = points.at(-2);
  if (!tip || !before) return '';
  const base = towards(tip, before, HEAD_LENGTH);
  const across = { x: (tip.y - base.y) / HEAD_LENGTH, y: (base.x - tip.x) / HEAD_LENGTH };
  const corner = (side: number): Point => ({
    x: base.x + across.x * side * HEAD_WIDTH,
    y: base.y + across.y * side * HEAD_WIDTH,
  });
  return `M${text(tip)} L${text(corner(1))} L${text(corner(-1))} Z`;
}

function towards(from: Point, to: Point, length: number): Point {
  const whole = distance(from, to);
  if (whole === 0) return from;
  return { x: from.x + ((to.x - from.x) * length) / whole, y: from.y + ((to.y - from.y) * length) / whole };
}

const distance = (a: Point, b: Point): number => Math.hypot(b.x - a.x, b.y - a.y);

const text = ({ x, y }: Point): string => `${x.toFixed(1)},${y.toFixed(1)}`;
