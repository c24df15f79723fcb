import { describe, expect, it } from 'vitest';
import { readOptions } from '../../../bench/load/options.ts';
import { ReceivedStream } from '../../../bench/load/received-stream.ts';
import type { StreamEvent } from '../../../src/client/stream-position.ts';

const turnId = 'turn-1';
const message: StreamEvent = { event: 'message', data: { content: 'hello' }, seq: 1, turnId };
const chunk = (content: string, offset: number): StreamEvent => ({
  event: 'chunk',
  data: { content },
  turnId,
  step: 1,
  offset,
});
const completed: StreamEvent = {
  event: 'stepCompleted',
  data: { content: 'you said', step: 1, callIds: [] },
  seq: 2,
  turnId,
};

const answered = (content: string): StreamEvent => ({ event: 'response', data: { content }, seq: 3, turnId });
const messageOf = (clientMessageId: string): StreamEvent => ({
  ...message,
  data: { content: 'hello', clientMessageId },
});

describe('what a client under load has received', () => {
  it('is what the log has when each event and each character came once', () => {
    const stream = new ReceivedStream();
    const resumed = { event: 'resumed', data: { after: 1, head: 1 } } as const;
    const response = answered('you said');
    for (const frame of [message, chunk('you', 0), resumed, chunk(' said', 3), completed, response])
      stream.take(frame);
    expect(stream.differenceFrom([message, completed, response])).toBeNull();
  });

  it.each([
    ['an event is missing', [message, { ...completed, seq: 3 }], 'event 3 came after event 1'],
    ['an event comes twice', [message, message], 'received twice'],
    ['text is missing', [message, chunk('you', 0), chunk('aid', 5)], 'text at 5 came after text up to 3'],
    ['text comes twice', [message, chunk('you', 0), chunk('ou said', 1)], 'received twice'],
    [
      'a message is taken twice',
      [messageOf('m1'), { ...messageOf('m1'), seq: 2 }],
      'the message m1 was taken twice',
    ],
    [
      'the answer is another one',
      [message, chunk('you said', 0), completed, answered('you say')],
      'the answer differs from the streamed text',
    ],
    ['the text is another one', [message, chunk('you sold', 0), completed], 'differs from the streamed text'],
  ])('is refused when %s', (_, frames, reason) => {
    const stream = new ReceivedStream();
    const takeAll = (): void => {
      for (const frame of frames) stream.take(frame);
    };
    expect(takeAll).toThrow(reason);
  });

  it('is refused when the stream goes on elsewhere than it was left', () => {
    const stream = new ReceivedStream();
    stream.take(message);
    expect(() => stream.take({ event: 'resumed', data: { after: 0, head: 1 } })).toThrow(
      'the stream was resumed after 0 instead of 1',
    );
  });

  it('differs from a log that has more, or something else', () => {
    const stream = new ReceivedStream();
    stream.take(message);
    expect(stream.differenceFrom([message, completed])).toBe('1 events were received, 2 are in the log');
    const other = { ...message, data: { content: 'bye' } };
    expect(stream.differenceFrom([other])).toContain('event 1 was received as');
  });
});

describe('the options of the load', () => {
  const url = ['--url', 'http://127.0.0.1:3001'];

  it('are WebSockets and moderate numbers when nothing is said', () => {
    expect(readOptions(url)).toMatchObject({ transport: 'ws', clients: 10, messages: 20, rampSeconds: 1 });
  });

  it.each([
    [[], '--url is missing'],
    [['--url', 'localhost'], '--url must be like http://127.0.0.1:3001, not localhost'],
    [[...url, '--clients', '0'], '--clients must be a whole number of at least 1, not 0'],
    [[...url, '--messages', '1.5'], '--messages must be a whole number'],
    [[...url, '--drops', '2'], '--drops must be a number from 0 to 1, not 2'],
    [[...url, '--ws', '--sse'], '--ws and --sse exclude each other'],
    [[...url, '--speed', '9'], "Unknown option '--speed'"],
  ])('%j are refused by name', (args, reason) => {
    expect(() => readOptions(args)).toThrow(reason);
  });
});
