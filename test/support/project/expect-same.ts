import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/** `toEqual` for long data: it takes seconds for a hundred thousand frames, and whatever else the process does would wait. */
export function expectSame(actual: unknown, expected: unknown, what?: string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, what).toEqual(expected);
}
