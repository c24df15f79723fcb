import { describe, expect, it } from 'vitest';
import { markdownBlocks } from '../../../src/console/chat/markdown-blocks.ts';

describe('the blocks of a markdown', () => {
  it.each([
    ['paragraphs', ['One\ntwo\n\n', 'three\n \n', 'four']],
    ['a list with blank lines', ['One:\n\n- a\n\n- b\n\n  more\n\n', 'Two']],
    ['code with blank lines', ['A\n\n', '```\nx\n\n\ny\n```\n\n', 'B']],
    ['code that has not ended', ['A\n\n', '```\nx\n\ny']],
    ['a fence in code', ['````md\n```js\n\nx\n\n```\n\ny\n````\n\n', 'B']],
    ['another fence in code', ['~~~\n```\n\nx\n~~~\n\n', 'B']],
    ['indented marks in code', ['```\n    ```\n\nx\n```\n\n', 'B']],
    ['quoted marks in code', ['```\n> ```\n\nx\n```\n\n', 'B']],
    ['code in a line', ['A ```x``` b\n\n', '```x``` b\n\n', 'B']],
    ['code in a list', ['A\n\n1. ```js\n   x\n\n   y\n   ```\n\n', 'B\n\n', '```\nz\n\nz\n```\n\n', 'C']],
    ['links to a definition', ['See [it][a].\n\nAnd [b].\n\n[a]: https://a.example\n[b]: https://b.example']],
    ['a footnote', ['See[^1].\n\nMore.\n\n[^1]: There.']],
    ['HTML with blank lines', ['A\n\n<pre>\n# x\n\n# y\n</pre>\n\nB']],
  ])('can be parsed by themselves: %s', (_, blocks) => {
    expect(markdownBlocks(blocks.join(''))).toEqual(blocks);
  });

  it('stay as they are while the text grows, but for the last one', () => {
    const text = 'One.\n\nTwo\n\n```\na\n\nb\n```\n\nThree\n\n1. x\n\n2. y\n\nEnd';
    const whole = markdownBlocks(text);
    for (let length = 0; length <= text.length; length += 1) {
      const blocks = markdownBlocks(text.slice(0, length));
      expect(blocks.join('')).toBe(text.slice(0, length));
      expect(whole.slice(0, blocks.length - 1)).toEqual(blocks.slice(0, -1));
    }
  });
});
