import { describe, expect, it, vi } from 'vitest';
import { parseJson } from '../../../../src/gateway/requests/json-text.ts';

const lists = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const objects = (levels: number): string => '{"a":'.repeat(levels) + 1 + '}'.repeat(levels);

describe('the JSON of a client', () => {
  it('may have 200 levels', () => {
    expect(JSON.stringify(parseJson(lists(200)))).toBe(lists(200));
    expect(JSON.stringify(parseJson(objects(200)))).toBe(objects(200));
    expect(parseJson(`[${lists(100)},${lists(199)}]`)).toHaveLength(2);
  });

  it('is refused with more', () => {
    const refused = expect.objectContaining({
      code: 'INVALID_REQUEST',
      details: expect.objectContaining({ field: 'body', issue: 'it has more than 200 levels' }),
    });
    for (const text of [lists(201), objects(201), `[${lists(100)},${lists(200)}]`, lists(100_000)])
      expect(() => parseJson(text)).toThrow(refused);
  });

  it('may have any signs in its strings', () => {
    for (const value of ['['.repeat(500), '\\"[{'.repeat(300), '\\', `\\\\"${'{'.repeat(500)}`])
      expect(parseJson(JSON.stringify({ [value]: [value, 'x'.repeat(500)] }))).toEqual({
        [value]: [value, 'x'.repeat(500)],
      });
  });

  it('that cannot be read is a SyntaxError', () => {
    const open = '['.repeat(300);
    for (const text of [open, `${open}${' '.repeat(300)}"`, `${'"\\'.repeat(200)}`, `{"${'\\"'.repeat(300)}`])
      expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  it('is refused before it is read with more than a million values', () => {
    const list = (values: number): string => `[${'1,'.repeat(values - 2)}1]`;
    expect(parseJson(list(1_000_000))).toHaveLength(999_999);
    const parse = vi.spyOn(JSON, 'parse');
    for (const text of [list(1_000_002), `[${'[],'.repeat(500_000)}{}]`, `{"a":[${'{},'.repeat(600_000)}`])
      expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
    const commas = ','.repeat(2_000_000);
    expect(parseJson(JSON.stringify([commas]))).toEqual([commas]);
  });

  it('may have 20,000 different names of fields, and 250,000 of them', () => {
    const names = (from: number, to: number): string =>
      Array.from({ length: to - from }, (_, index) => `"${from + index}:" :1`).join();
    const half = `{${names(0, 10_000)}}`;
    const whole = `[${half},{${names(10_000, 20_000)}},${Array(23).fill(half).join()}]`;
    expect(parseJson(whole)).toHaveLength(25);

    const parse = vi.spyOn(JSON, 'parse');
    const refused = (issue: string): unknown =>
      expect.objectContaining({ details: expect.objectContaining({ field: 'body', issue }) });
    expect(() => parseJson(`[${half},{${names(10_000, 20_001)}}]`)).toThrow(
      refused('it has more than 20000'),
    );
    expect(() => parseJson(`[${whole},{"0:":1}]`)).toThrow(refused('it has more than 250000'));
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  it('is refused before it is read if it is long and too deep', () => {
    const parse = vi.spyOn(JSON, 'parse');
    expect(() => parseJson(lists(100_000))).toThrow('nested too deeply');
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });
});
