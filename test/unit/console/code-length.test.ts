import { describe, expect, it } from 'vitest';
import { mayHaveColours } from '../../../src/console/chat/code-length.ts';

describe('the colours of code', () => {
  it('are for a language, and not for a code so long that the page would stand still', () => {
    expect(mayHaveColours('x'.repeat(50_000), 'js')).toBe(true);
    expect(mayHaveColours('x'.repeat(50_001), 'js')).toBe(false);
    expect(mayHaveColours('x', '')).toBe(false);
  });
});
