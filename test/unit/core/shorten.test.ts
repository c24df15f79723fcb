import { describe, expect, it } from 'vitest';
import { beginningOf, shorten } from '../../../src/core/shorten.ts';

describe('a text that is too long', () => {
  it('is cut, with an ellipsis', () => {
    expect([shorten('abc', 3), shorten('abcd', 3)]).toEqual(['abc', 'abc…']);
  });

  it('is not cut in the middle of a character', () => {
    expect([shorten('a😀b', 2), beginningOf('a😀b', 2), beginningOf('a😀b', 3)]).toEqual(['a…', 'a', 'a😀']);
  });
});
