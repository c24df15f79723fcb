import { describe, expect, it } from 'vitest';
import { parseEvent } from '../../src/adapters/openai/chat-chunk.ts';
import { ChunkTemplate } from '../../src/adapters/openai/chunk-template.ts';
import { seededRandom } from '../support/seeded-random.ts';

function chunk(content: unknown, more: object = {}, choice: object = {}): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: null, ...choice }];
  return JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices, ...more });
}

function learnt(data: string): ChunkTemplate {
  const event = parseEvent(data);
  if (event.kind !== 'text') throw new Error(`${data} is no plain text`);
  const template = new ChunkTemplate();
  template.learn(data, event.text);
  return template;
}

describe('a chunk template', () => {
  it('reads the text of a chunk that differs in nothing else', () => {
    const template = learnt(chunk('Hello'));
    for (const text of [' there', 'a', '💡 é', 'content', "{'content':1}"])
      expect(template.textOf(chunk(text))).toBe(text);
  });

  it('reads it with the spaces that Python writes, and beside the padding of OpenAI', () => {
    const spaced = (text: string): string => chunk(text).replaceAll('":', '": ').replaceAll(',"', ', "');
    expect(learnt(spaced('a')).textOf(spaced('b'))).toBe('b');
    const padded = (text: string, obfuscation: string): string => chunk(text, { obfuscation });
    expect(learnt(padded('a', 'x')).textOf(padded('b', 'longer'))).toBe('b');
  });

  it.each([
    ['nothing', chunk('')],
    ['an escape', chunk('line\nbreak')],
    ['a quotation mark', chunk('"')],
    ['no text', chunk(null)],
    ['the end', chunk('b', {}, { finish_reason: 'stop' })],
    ['the usage', chunk('b', { usage: { prompt_tokens: 1, completion_tokens: 1 } })],
    ['an error', chunk('b', { error: { message: 'no' } })],
    ['another id', chunk('b').replace('chatcmpl-1', 'chatcmpl-2')],
    ['half a chunk', chunk('b').slice(0, -5)],
    ['half a text', chunk('bbb').slice(0, chunk('bbb').indexOf('bbb') + 1)],
    ['a raw line break', chunk('b').replace('"b"', '"b\n"')],
    ['more behind it', `${chunk('b')} `],
  ])('leaves %s to the parser', (_what, data) => {
    expect(learnt(chunk('a')).textOf(data)).toBeUndefined();
    expect(learnt(chunk('a', { obfuscation: 'x' })).textOf(data)).toBeUndefined();
  });

  it('does not take another string for the text that happens to read the same', () => {
    const twice = (content: string): string =>
      JSON.stringify({ choices: [{ content: 'a', delta: { content } }] });
    expect(learnt(twice('a')).textOf(twice('b'))).toBeUndefined();
    expect(learnt(twice('a')).textOf(twice('b').replace('"content":"a"', '"content":"c"'))).toBeUndefined();
  });

  it('learns anew when the chunks change, but not for ever', () => {
    const of = (id: string, text: string): string => chunk(text).replace('chatcmpl-1', id);
    const template = learnt(of('one', 'a'));
    for (const id of ['two', 'three', 'four', 'five']) template.learn(of(id, 'a'), 'a');
    expect(template.textOf(of('four', 'b'))).toBe('b');
    expect(template.textOf(of('five', 'b'))).toBeUndefined();
  });

  it('says of 20,000 random chunks what the parser says, or nothing', () => {
    const random = seededRandom(20_261);
    const below = (limit: number): number => Math.floor(random() * limit);
    const pick = <T>(values: readonly [T, ...T[]]): T => values[below(values.length)] ?? values[0];
    const alphabet: [string, ...string[]] = [
      'a',
      ' ',
      '"',
      '\\',
      '\n',
      '\u0001',
      '{',
      '}',
      ':',
      'é',
      '\u2028',
      '💡',
      '"content":"',
      'x'.repeat(20),
    ];
    const text = (): string => Array.from({ length: below(6) }, () => pick(alphabet)).join('');
    let read = 0;
    for (let round = 0; round < 200; round += 1) {
      const shape = pick<object>([{}, { obfuscation: 'abc' }, { model: text(), service_tier: 'default' }]);
      const template = learnt(chunk(`${text()}.`, shape));
      for (let count = 0; count < 100; count += 1) {
        const whole = chunk(text(), below(2) === 0 ? shape : { obfuscation: text() });
        const cutAt = below(whole.length);
        const data = below(4) === 0 ? whole.slice(0, cutAt) + whole.slice(cutAt + 1) : whole;
        const found = template.textOf(data);
        if (found === undefined) continue;
        read += 1;
        expect({ kind: 'text', text: found }).toEqual(parseEvent(data));
      }
    }
    expect(read).toBeGreaterThan(1_000);
  });
});
