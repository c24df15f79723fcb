/*
 * Columns of a row. The database may be damaged, so a value of another type is refused with a `TypeError`.
 */

export function integerOf(value: unknown): number {
  if (typeof value !== 'number') throw new TypeError(`found ${typeof value} where an integer belongs`);
  return value;
}

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`found ${typeof value} where text belongs`);
  return value;
}
