import { describe, expect, it } from 'vitest';
import { TextPieces } from '../../../../src/gateway/openai/responses/text-pieces.ts';
import { seededRandom } from '../../../support/project/seeded-random.ts';

function cut(...texts: string[]): string[] {
  const pieces = new TextPieces();
  return [...texts.flatMap((text) => pieces.add(text)), pieces.end()].filter((piece) => piece !== '');
}

describe('the pieces of a text', () => {
  it.each([
    ['', []],
    ['word', ['word']],
    ['two words', ['two ', 'words']],
    ['  a\n\n    b', ['  ', 'a\n\n    ', 'b']],
    ['x'.repeat(70), ['x'.repeat(32), 'x'.repeat(32), 'x'.repeat(6)]],
    [`x${'🙂'.repeat(17)}`, [`x${'🙂'.repeat(16)}`, '🙂']],
  ])('of %j are %j', (text, pieces) => {
    expect(cut(text)).toEqual(pieces);
  });

  it('do not depend on how the text came', () => {
    const random = seededRandom(7);
    const letters = ['a', 'b', ' ', '\n', '🙂', 'ß', '\t'];
    for (let round = 0; round < 300; round += 1) {
      const length = Math.floor(random() * 120);
      const text = Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join('');
      const parts: string[] = [];
      for (let begin = 0; begin < text.length; ) {
        const end = begin + 1 + Math.floor(random() * 9);
        parts.push(text.slice(begin, end));
        begin = end;
      }
      const pieces = cut(...parts);
      expect(pieces).toEqual(cut(text));
      expect(pieces.join('')).toBe(text);
      expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    }
  });

  it('are told as soon as the next word begins', () => {
    const pieces = new TextPieces();
    expect(pieces.add('Hello')).toEqual([]);
    expect(pieces.add(' w')).toEqual(['Hello ']);
    expect(pieces.add('orld')).toEqual([]);
    expect(pieces.end()).toBe('world');
  });
});
