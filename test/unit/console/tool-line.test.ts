import { describe, expect, it } from 'vitest';
import { argumentsLine, resultLine } from '../../../src/console/chat/tool-line.ts';

describe('the line of a tool call', () => {
  it('has its arguments, with what is not seen escaped', () => {
    expect(argumentsLine({ path: '/tmp/\u202Egpj.exe', 'a\u200Bb': { deep: ['\u2066'] } })).toBe(
      String.raw`path: /tmp/\u202egpj.exe, a\u200bb: {"deep":["\u2066"]}`,
    );
  });

  it('is one line', () => {
    expect(argumentsLine({ text: ' a\n\r\n\tb ' })).toBe('text: a b');
  });
});

describe('the line of a result without content', () => {
  it.each([
    [0, '0'],
    [false, 'false'],
    [[1], '[1]'],
  ])('is its structured value, such as %j', (structuredContent, line) => {
    expect(resultLine({ result: { content: [], structuredContent } })).toBe(line);
  });
});
