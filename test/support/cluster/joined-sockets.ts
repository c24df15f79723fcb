import type { Socket } from 'node:net';

/** Passes on what either side sends, its end, and that it broke. */
export function joinSockets(one: Socket, other: Socket): void {
  one.pipe(other);
  other.pipe(one);
  shareEnds(one, other);
}

/** A side that is gone takes the other one with it, once that has what was sent before. */
export function shareEnds(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroySoon());
  }
}
