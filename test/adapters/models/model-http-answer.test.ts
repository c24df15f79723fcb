import { once } from 'node:events';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import {
  EventTooLargeError,
  readAnswer,
  StreamCutError,
  UnreadableAnswerError,
} from '../../../src/model-http/http/answer-stream.ts';
import { rejection } from '../../support/models/openai-model-harness.ts';

interface Heard {
  readonly events: [data: string, name: string | undefined][];
  readonly whole: unknown;
  /** How often something has come. */
  readonly bytes: number;
}

/** Reads a body that comes in these pieces. */
async function read(...pieces: string[]): Promise<Heard> {
  const events: Heard['events'] = [];
  let bytes = 0;
  const whole = await readAnswer(Readable.from(pieces), {
    onBytes: () => {
      bytes += 1;
    },
    onEvent: (data, name) => events.push([data, name]),
  });
  return { events, whole, bytes };
}

describe('the body of an answer', () => {
  it('that was over before anybody listened is a cut one, and not waited for', async () => {
    const body = Readable.from(['data: lost\n\n']).resume();
    await once(body, 'close');
    const ignore = (): void => undefined;
    expect(await rejection(readAnswer(body, { onBytes: ignore, onEvent: ignore }))).toBeInstanceOf(
      StreamCutError,
    );
  });

  it('is read as events by what it begins with, cut wherever it may be', async () => {
    const text = ': alive\n\nevent: first\ndata: {"a":1}\n\ndata: two\ndata: lines\n\ndata: [DONE]\n\n';
    const events = [
      ['{"a":1}', 'first'],
      ['two\nlines', undefined],
      ['[DONE]', undefined],
    ];
    for (let at = 0; at <= text.length; at += 1) {
      const heard = await read(...[text.slice(0, at), text.slice(at)].filter((piece) => piece !== ''));
      expect({ at, ...heard }).toMatchObject({ at, events, whole: undefined });
    }
  });

  it.each([
    ['a byte order mark', '\uFEFFdata: x\n\n'],
    ['empty lines', '\n\n\r\ndata: x\n\n'],
    ['an id', 'id: 7\ndata: x\n\n'],
    ['a time to retry', 'retry: 10\ndata: x\n\n'],
    ['no space behind the colon', 'data:x\n\n'],
    ['no blank line at its end', 'data: x'],
    ['carriage returns', 'data: x\r\r'],
  ])('is read as events also with %s', async (_what, text) => {
    expect((await read(text)).events).toEqual([['x', undefined]]);
  });

  it('tells of each piece that comes, of comments as well', async () => {
    const heard = await read('data: x\n\n', ': alive\n\n', ': alive\n\n');
    expect(heard).toMatchObject({ bytes: 3, events: [['x', undefined]] });
  });

  it('tells an error in a field of that name as an event of it', async () => {
    expect((await read('data: x\n\nerror: {"code":500}\n\n')).events).toEqual([
      ['x', undefined],
      ['{"code":500}', 'error'],
    ]);
  });

  it.each([
    ['{"a":[1,', '2]}'],
    [' \n\t{"a":', '[1,2]}'],
    ['{', '"a":[1,2]}'],
  ])('is read as a whole where it is JSON: %s…', async (...pieces) => {
    expect(await read(...pieces)).toEqual({ events: [], whole: { a: [1, 2] }, bytes: 2 });
  });

  it('is a list where it is JSON and a list', async () => {
    expect((await read('[{"a":1}]')).whole).toEqual([{ a: 1 }]);
  });

  it.each([[''], [' \n ']])('is nothing where it is empty: %j', async (text) => {
    expect(await read(text)).toMatchObject({ events: [], whole: undefined });
  });

  it.each([['<!DOCTYPE html>'], ['upstream timed out'], ['{"a":'], ['{oops}'], ['dat', 'um: x\n\n']])(
    'is refused where it is neither: %s',
    async (...pieces) => {
      expect(await rejection(read(...pieces))).toBeInstanceOf(UnreadableAnswerError);
    },
  );

  it('is given up where it has no end, as JSON and as one event', async () => {
    const megabyte = 'x'.repeat(1024 * 1024);
    const endless = Array<string>(18).fill(megabyte);
    expect(await rejection(read('{"a":"', ...endless))).toBeInstanceOf(EventTooLargeError);
    expect(await rejection(read('data: ', ...endless))).toBeInstanceOf(EventTooLargeError);
  });

  it('is left alone when its reader throws, and that is what is thrown', async () => {
    const body = Readable.from(['data: 1\n\n', 'data: 2\n\n']);
    const onEvent = (): void => {
      throw new RangeError('enough');
    };
    const reading = readAnswer(body, { onBytes: () => undefined, onEvent });
    expect(await rejection(reading)).toBeInstanceOf(RangeError);
    expect(body.destroyed).toBe(true);
  });
});
