import { describe, expect, it } from 'vitest';
import { visible } from '../../../src/core/visible.ts';

describe('a text in which everything is seen', () => {
  it.each([
    ['a turn of the direction', 'rm \u202Etxt\u2066', String.raw`rm \u202etxt\u2066`],
    ['characters without width', 'a\u200Bb\u2060\uFEFF', String.raw`a\u200bb\u2060\ufeff`],
    ['letters without a shape', '\u3164\u00AD', String.raw`\u3164\u00ad`],
    ['tags', '\u{E0068}', String.raw`\udb40\udc68`],
    ['selectors of a variation', 'a\uFE0F', String.raw`a\ufe0f`],
    ['control characters', '\u0007\u0085\u009B', String.raw`\u0007\u0085\u009b`],
    ['separators of lines', '\u2028\u2029', String.raw`\u2028\u2029`],
    ['joined emoji', '👩\u200D🚀', String.raw`👩\u200d🚀`],
  ])('has %s escaped', (_, text, expected) => {
    expect(visible(text)).toBe(expected);
  });

  it('has all else as it is', () => {
    const text = 'Zoë, "שלום" \\u202e مرحبا 日本 🚀\n\tnext\r\n';
    expect(visible(text)).toBe(text);
  });

  it('is the same JSON', () => {
    const value = { 'a\u200Bb': 'delete \u202E pmt/ \\\u2066', tags: ['\u{E0068}\u{E0069}', '👩\u200D🚀'] };
    expect(JSON.parse(visible(JSON.stringify(value, null, 2)))).toEqual(value);
  });
});
