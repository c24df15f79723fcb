import { describe, expect, it } from 'vitest';
import { escaped } from '../../../bench/support/compatible-events.ts';
import { readChatEvent } from '../../../src/adapters/openai/chat/chat-event.ts';
import { EventTemplate } from '../../../src/model-http/reply/event-template.ts';
import { seededRandom } from '../../support/project/seeded-random.ts';

function chunk(content: unknown, more: object = {}, choice: object = {}): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: null, ...choice }];
  return JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices, ...more });
}

function read(data: string): string | undefined {
  const event = readChatEvent(data);
  return event.kind === 'text' ? event.text : undefined;
}

function learnt(...events: string[]): EventTemplate {
  const template = new EventTemplate(read);
  for (const data of events) {
    const text = read(data);
    if (text === undefined) throw new Error(`${data} is no plain text`);
    template.learn(data, text);
  }
  return template;
}

describe('an event template', () => {
  it('reads the text of an event that differs in nothing else', () => {
    const template = learnt(chunk('Hello'));
    for (const text of [
      ' there',
      'a',
      '💡 é',
      'content',
      "{'content':1}",
      'line\nbreak',
      '"',
      '\\',
      'a\\"b',
      '\u0001',
    ])
      expect(template.textOf(chunk(text))).toBe(text);
  });

  it('reads it with the spaces that Python writes', () => {
    const spaced = (text: string): string => chunk(text).replaceAll('":', '": ').replaceAll(',"', ', "');
    expect(learnt(spaced('a')).textOf(spaced('b'))).toBe('b');
  });

  it('reads it beside strings, counters and times that have changed from one event to the next', () => {
    const counted = (text: string, tokens: number): string =>
      chunk(text, { usage: { prompt_tokens: 7, completion_tokens: tokens, total_tokens: tokens + 7 } });
    expect(learnt(counted('a', 1), counted('b', 2)).textOf(counted('c', 1_000))).toBe('c');
    const padded = (text: string, created: number, obfuscation: string): string =>
      chunk(text, { created, obfuscation });
    const template = learnt(padded('a', 1, 'x'), padded('b', 1, 'xyz'), padded('c', 2, 'xy'));
    expect(template.textOf(padded('d', 30, 'much longer'))).toBe('d');
  });

  it('reads it whatever number of blanks the provider pads its events with', () => {
    const padded = (text: string, blanks: number): string =>
      chunk(text).replace(/}$/, `${' '.repeat(blanks)}}`);
    const template = learnt(padded('a', 0), padded('b', 7));
    expect(template.textOf(padded('c', 0))).toBe('c');
    expect(template.textOf(padded('d', 20))).toBe('d');
  });

  it('reads it however the provider escapes what it says', () => {
    const go = (text: string): string => escaped(chunk(text));
    for (const template of [learnt(go('a')), learnt(go('<b>é')), learnt(go('é💡'))])
      for (const text of ['<br>', '💡', 'a & "b"', '\\u003c']) expect(template.textOf(go(text))).toBe(text);
  });

  it('reads it beside padding that has escapes', () => {
    const padded = (text: string, padding: string): string => chunk(text, { padding });
    const template = learnt(padded('a', 'x'), padded('b', '"\\\n"'));
    expect(template.textOf(padded('c', '\\"\t,"content":"d"'))).toBe('c');
  });

  it('reads the next reply, with another id and time, after two replies', () => {
    const of = (reply: number, text: string): string =>
      chunk(text, { created: 1_760_000_000 + reply, request: `request-${reply}` });
    const template = learnt(of(1, 'a'), of(2, 'b'));
    expect(template.textOf(of(3, 'c'))).toBe('c');
  });

  it('leaves an event to the parser that is too long for an example', () => {
    const template = learnt(chunk('a'));
    expect(template.textOf(chunk('b'.repeat(16_000)))).toHaveLength(16_000);
    expect(template.textOf(chunk('b'.repeat(17_000)))).toBeUndefined();
    const long = chunk('b'.repeat(17_000));
    expect(learnt(long).textOf(chunk('a'))).toBeUndefined();
  });

  it('takes no name of a field for a token that may change, whatever blanks are before its colon', () => {
    const of = (field: string, text: string): string =>
      chunk(text, { [field]: 'x' }).replace(`"${field}":`, `"${field}"\t :`);
    expect(learnt(of('id_1', 'a'), of('id_2', 'b')).textOf(of('error', 'c'))).toBeUndefined();
  });

  it.each([
    ['nothing', chunk('')],
    ['no valid escape', chunk('b').replace('"b"', '"b\\x"')],
    ['an escape without an end', chunk('b').replace('"b"', '"b\\"')],
    ['no text', chunk(null)],
    ['the end', chunk('b', {}, { finish_reason: 'stop' })],
    ['the usage', chunk('b', { usage: { prompt_tokens: 1, completion_tokens: 1 } })],
    ['an error', chunk('b', { error: { message: 'no' } })],
    ['another id', chunk('b').replace('chatcmpl-1', 'chatcmpl-2')],
    ['half an event', chunk('b').slice(0, -5)],
    ['half a text', chunk('bbb').slice(0, chunk('bbb').indexOf('bbb') + 1)],
    ['a raw line break', chunk('b').replace('"b"', '"b\n"')],
    ['more behind it', `${chunk('b')} `],
  ])('leaves %s to the parser', (_what, data) => {
    expect(learnt(chunk('a')).textOf(data)).toBeUndefined();
    expect(learnt(chunk('a', { obfuscation: 'x' })).textOf(data)).toBeUndefined();
  });

  it.each([
    ['no number', (text: string, value: string) => chunk(text).replace('"index":0', `"index":${value}`)],
  ])('leaves an event with %s where a number was to the parser', (_what, of) => {
    const template = learnt(of('a', '1'), of('b', '2'));
    expect(template.textOf(of('c', '34'))).toBe('c');
    for (const value of ['034', '3.5', '3e4', '-3', '', '"3"', 'null', '1234567890123456'])
      expect(template.textOf(of('c', value))).toBeUndefined();
  });

  it('takes no token for one that may change when the reading depends on it', () => {
    const of = (place: number, text: string): string => JSON.stringify({ place, text });
    const readAtOne = (data: string): string | undefined => {
      const { place, text }: { place: number; text: string } = JSON.parse(data);
      return place === 1 ? text : undefined;
    };
    const template = new EventTemplate(readAtOne);
    template.learn(of(1, 'a'), 'a');
    template.learn(of(2, 'b'), 'b');
    expect(template.textOf(of(3, 'c'))).toBeUndefined();
  });

  it('takes no token for one that may change when an empty one matters', () => {
    const of = (state: string, text: string): string => JSON.stringify({ state, text });
    const readWithState = (data: string): string | undefined => {
      const { state, text }: { state: string; text: string } = JSON.parse(data);
      return state === '' ? undefined : text;
    };
    const template = new EventTemplate(readWithState);
    template.learn(of('a', 'a'), 'a');
    template.learn(of('b', 'b'), 'b');
    expect(template.textOf(of('b', 'c'))).toBe('c');
    expect(template.textOf(of('', 'c'))).toBeUndefined();
  });

  it('leaves an event with another field in the place of one to the parser', () => {
    const of = (field: string, text: string): string => chunk(text, { [field]: 'x' });
    const template = learnt(of('id_1', 'a'), of('id_2', 'b'));
    expect(template.textOf(of('id_2', 'c'))).toBe('c');
    expect(template.textOf(of('error', 'c'))).toBeUndefined();
  });

  it('does not take another string for the text that happens to read the same', () => {
    const twice = (content: string): string =>
      JSON.stringify({ choices: [{ content: 'a', delta: { content } }] });
    expect(learnt(twice('a')).textOf(twice('b'))).toBe('b');
    expect(learnt(twice('a')).textOf(twice('b').replace('"content":"a"', '"content":"c"'))).toBeUndefined();
  });

  it('learns anew when the events change, but not for ever', () => {
    const of = (shape: number, text: string): string => chunk(text, { [`field${shape}`]: null });
    const template = new EventTemplate(read);
    for (let shape = 1; shape <= 12; shape += 1) template.learn(of(shape, 'a'), 'a');
    expect(template.textOf(of(12, 'b'))).toBe('b');
    template.learn(of(13, 'a'), 'a');
    expect(template.textOf(of(13, 'b'))).toBeUndefined();
    // One more attempt for each fifty events: what learning costs stays small.
    for (let event = 0; event < 50; event += 1) template.textOf(of(13, 'b'));
    template.learn(of(13, 'a'), 'a');
    expect(template.textOf(of(13, 'b'))).toBe('b');
  });

  it('says of 40,000 random events what the parser says, or nothing', () => {
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
      '1',
      'x'.repeat(20),
    ];
    const text = (): string => Array.from({ length: below(6) }, () => pick(alphabet)).join('');
    const usage = () => ({ prompt_tokens: below(3), completion_tokens: below(2_000) });
    const shapes: [() => object, ...(() => object)[]] = [
      () => ({}),
      () => ({ obfuscation: text() }),
      () => ({ created: below(100), usage: usage() }),
      () => ({ model: text(), service_tier: 'default' }),
    ];
    let known = 0;
    for (let round = 0; round < 400; round += 1) {
      const shape = pick(shapes);
      const template = learnt(...Array.from({ length: 3 }, () => chunk(`${text()}.`, shape())));
      for (let count = 0; count < 100; count += 1) {
        const whole = chunk(text(), below(2) === 0 ? shape() : { obfuscation: text() });
        const cutAt = below(whole.length);
        const data = below(4) === 0 ? whole.slice(0, cutAt) + whole.slice(cutAt + 1) : whole;
        const found = template.textOf(data);
        if (found === undefined) continue;
        known += 1;
        expect(found).toBe(read(data));
      }
    }
    expect(known).toBeGreaterThan(3_000);
  });
});
