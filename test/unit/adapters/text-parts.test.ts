import { describe, expect, it } from 'vitest';
import { messagesOf, TextParts } from '../../../src/adapters/nats/text-parts.ts';

const MAX_BYTES = 256;

function received(messages: Iterable<string | Buffer>, parts = new TextParts(() => undefined)): string[] {
  return [...messages].flatMap((message) => parts.take(Buffer.from(message)) ?? []);
}

describe('a text', () => {
  it.each([
    ['nothing', ''],
    ['a little', 'a'],
    ['as much as one message takes', 'a'.repeat(MAX_BYTES - 1)],
    ['what looks like a part', '+id 0 1\nx'],
  ])('of %s is one message', (_, text) => {
    const messages = [...messagesOf(text, 'id', MAX_BYTES)];
    expect(messages).toHaveLength(1);
    expect(received(messages)).toEqual([text]);
  });

  it.each([
    ['one byte too many', 'a'.repeat(MAX_BYTES)],
    ['characters of two, three and four bytes', 'aé漢😀'.repeat(500)],
    ['lines', '\n \n'.repeat(400)],
    ['a whole number of parts', 'a'.repeat((MAX_BYTES - 96) * 4)],
  ])('of %s is several messages, none longer than allowed, and the same in the end', (_, text) => {
    const messages = [...messagesOf(text, 'id', MAX_BYTES)];
    expect(messages.length).toBeGreaterThan(1);
    for (const message of messages) expect(Buffer.byteLength(message)).toBeLessThanOrEqual(MAX_BYTES);
    expect(received(messages)).toEqual([text]);
  });

  it('of few bytes in many code units is still one message', () => {
    const text = 'a'.repeat(MAX_BYTES / 2);
    expect(3 * text.length).toBeGreaterThan(MAX_BYTES);
    expect([...messagesOf(text, 'id', MAX_BYTES)]).toEqual([`.${text}`]);
  });
});

describe('the parts of texts', () => {
  const long = (letter: string): string => letter.repeat(1_000);
  const split = (letter: string): (string | Buffer)[] => [...messagesOf(long(letter), letter, MAX_BYTES)];

  it('of two texts may be mixed, and come in any order', () => {
    const [a, b] = [split('a'), split('b')];
    const mixed = a.flatMap((part, index) => [part, b[index] ?? '']).toReversed();
    expect(received(mixed)).toEqual([long('b'), long('a')]);
  });

  it('that arrive twice make one text', () => {
    expect(received(split('a').flatMap((part) => [part, part]))).toEqual([long('a')]);
  });

  it('do not use the memory of the message after it was taken', () => {
    const parts = new TextParts(() => undefined);
    const taken = split('a').map((part) => {
      const message = Buffer.from(part);
      const text = parts.take(message);
      message.fill(0);
      return text;
    });
    expect(taken.at(-1)).toBe(long('a'));
  });

  it('that lack one make no text, and count as dropped when they are given up', () => {
    let dropped = 0;
    const parts = new TextParts(() => {
      dropped += 1;
    });
    expect(received(split('a').slice(1), parts)).toEqual([]);
    expect(received(split('b'), parts)).toEqual([long('b')]);
    expect(dropped).toBe(0);
    parts.clear();
    parts.clear();
    expect(dropped).toBe(1);
    // What comes late is not taken for the rest.
    expect(received(split('a').slice(0, 1), parts)).toEqual([]);
  });

  it('take no more than 64 MiB: the oldest text is given up', () => {
    let dropped = 0;
    const parts = new TextParts(() => {
      dropped += 1;
    });
    const size = 1024 * 1024;
    const part = (id: string, index: number): Buffer =>
      Buffer.concat([Buffer.from(`+${id} ${index} 100\n`), Buffer.alloc(size, 'x')]);
    for (let index = 0; index < 64; index += 1) parts.take(part(index < 32 ? 'old' : 'new', index));
    expect(dropped).toBe(0);
    parts.take(part('new', 0));
    expect(dropped).toBe(1);
    for (let index = 0; index < 31; index += 1) parts.take(part('third', index));
    expect(dropped).toBe(1);
  });

  it.each([
    '',
    '+',
    '+id',
    '+id 0 0\nx',
    '+id 5 3\nx',
    '+id -1 3\nx',
    '+id 0.5 2\nx',
    '+id 0 99999999999\nx',
    'x',
  ])('that nobody has made (%j) make no text and no error', (message) => {
    expect(received([message])).toEqual([]);
  });
});
