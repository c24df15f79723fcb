import { describe, expect, it } from 'vitest';
import { WordWrap, wrapWords } from '../../../src/cli/chat/word-wrap.ts';

/** The text as it is shown, streamed in pieces of this length. */
function streamed(text: string, columns: number, pieceLength: number): string {
  const wrap = new WordWrap(() => columns);
  let shown = '';
  for (let at = 0; at < text.length; at += pieceLength) shown += wrap.push(text.slice(at, at + pieceLength));
  return shown + wrap.end();
}

describe('text at a terminal', () => {
  it.each([1, 2, 3, 7, 100])('is broken between words, streamed in pieces of %i', (pieceLength) => {
    expect(streamed('one two three four', 10, pieceLength)).toBe('one two \nthree four');
    expect(streamed('a exactlyten b', 10, pieceLength)).toBe('a \nexactlyten\nb');
    expect(streamed('short\nlines stay\n', 20, pieceLength)).toBe('short\nlines stay\n');
  });

  it('loses and adds nothing but breaks', () => {
    const text =
      'Some words, a-very-long-word-that-fits-nowhere, 日本語のテキスト and é😀 emoji.\n\n- list\n  - more  spaces';
    for (const columns of [5, 8, 13, 40]) {
      const shown = streamed(text, columns, 3);
      expect(shown.replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
    }
  });

  it('counts wide characters as two, and breaks between them', () => {
    expect(wrapWords('日本語', 4)).toBe('日本\n語');
    expect(wrapWords('e\u0301e\u0301 x', 4)).toBe('e\u0301e\u0301 x');
  });

  it('keeps the lines of fenced code whole', () => {
    const code = '```\nconst a = some + thing;\n```\n';
    expect(wrapWords(`${code}and then some more`, 10)).toBe(`${code}and then \nsome more`);
  });

  it('is as it is without a terminal', () => {
    expect(wrapWords('one two three', undefined)).toBe('one two three');
  });
});
