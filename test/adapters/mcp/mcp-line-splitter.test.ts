import { expect, test } from 'vitest';
import { LineSplitter } from '../../../src/adapters/mcp/stdio/line-splitter.ts';

function split(maxBytes: number, chunks: readonly (string | Buffer)[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter(maxBytes, (line, cut) => lines.push(cut ? `${line} (cut)` : line));
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  splitter.end();
  return lines;
}

test('cuts lines wherever the chunks end', () => {
  expect(split(100, ['a', 'b\nc', '\r\n\nd\ne'])).toEqual(['ab', 'c', '', 'd', 'e']);
});

test('keeps a character whole that two chunks share', () => {
  const bytes = Buffer.from('é\n');
  expect(split(100, [bytes.subarray(0, 1), bytes.subarray(1)])).toEqual(['é']);
});

test('hands over the start of an endless line once, and goes on with the next line', () => {
  expect(split(4, ['abc', 'def', 'ghi', '\nnext', '\n'])).toEqual(['abcd (cut)', 'next']);
});

test('takes a line of exactly the bound', () => {
  expect(split(4, ['ab', 'cd', '\n', 'abcde\n'])).toEqual(['abcd', 'abcd (cut)']);
});
