import { describe, expect, it } from 'vitest';
import { ThoughtSplitter } from '../../../src/adapters/openai/chat/thought-splitter.ts';

/** What comes of the content in these pieces; a piece that begins with `!` is flagged as reasoning. */
function split(...pieces: readonly string[]) {
  const splitter = new ThoughtSplitter();
  const parts = pieces.map((piece) => splitter.take(piece.replace(/^!/, ''), piece.startsWith('!')));
  const all = [...parts, splitter.end()];
  return [all.map(({ reasoning }) => reasoning).join(''), all.map(({ text }) => text).join('')];
}

const whole = '<think>\n Hm. \n\n Well. \n</think>\n\nHello </think>';

describe('a reply that begins with reasoning', () => {
  it.each([1, 2, 3, 7, 100])(
    'is split without the tags and the space around them, %i characters a piece',
    (size) => {
      const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
        whole.slice(index * size, (index + 1) * size),
      );
      const [reasoning, text] = split(...pieces);
      expect(reasoning?.trimStart()).toBe('Hm. \n\n Well.');
      expect(text?.trimStart()).toBe('Hello </think>');
    },
  );

  it('keeps what only looks like a tag', () => {
    expect(split('<think>a <', '/thin', 'g> b </thought>c')).toEqual(['a </thing> b', 'c']);
    expect(split('<think>a \n</thi')).toEqual(['a \n</thi', '']);
  });

  it('keeps the space of reasoning that the provider flags, and ends without a tag', () => {
    expect(split('!<thought>Hm.\n', 'Hello')).toEqual(['Hm.\n', 'Hello']);
    expect(split('!<thought>Hm.\n', '</thought>Hello')).toEqual(['Hm.', 'Hello']);
  });

  it('may think in nothing but line breaks for long', () => {
    const [reasoning, text] = split(
      '<think>Hm.',
      ...Array.from({ length: 20_000 }, () => '\n\n'),
      'x</think>y',
    );
    expect([reasoning?.length, text]).toEqual(['Hm.x'.length + 40_000, 'y']);
  });
});
