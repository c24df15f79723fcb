import { describe, expect, it } from 'vitest';
import { ToolCallCollector } from '../../../src/adapters/openai/chat/tool-call-collector.ts';
import { ReplyCallIds } from '../../../src/model-http/reply/reply-call-ids.ts';

const fragment = (more: object) => ({
  index: undefined,
  id: '',
  name: '',
  arguments: '',
  extraContent: undefined,
  ...more,
});

function callsOf(...chunks: readonly (readonly object[])[]) {
  const collector = new ToolCallCollector();
  for (const chunk of chunks) collector.add(chunk.map(fragment));
  collector.end();
  return collector
    .finish(new ReplyCallIds([], 'call_'))
    .map(({ name, arguments: args }) => [name, args.trim()]);
}

describe('the fragments of tool calls', () => {
  it('are one call where a model writes space behind its arguments, and the server repeats id and name', () => {
    const call = { index: 0, id: 'a', name: 'now' };
    expect(callsOf([{ ...call, arguments: '{"a":1}' }], [{ ...call, arguments: '\n' }])).toEqual([
      ['now', '{"a":1}'],
    ]);
  });

  it.each<{ readonly how: string; readonly rest: readonly (readonly object[])[] }>([
    { how: 'in pieces', rest: [[{ index: 0, arguments: '{"city":' }], [{ index: 0, arguments: '"Oslo"}' }]] },
    { how: 'at once', rest: [[{ index: 0, id: 'a', name: 'now', arguments: '{"city":"Oslo"}' }]] },
  ])('are one call where it opens with {}, and its arguments come $how behind that', ({ rest }) => {
    const opening = { index: 0, id: 'a', name: 'now', arguments: '{}' };
    expect(callsOf([opening], ...rest)).toEqual([['now', '{"city":"Oslo"}']]);
  });

  it('are a call without arguments where nothing comes behind {}', () => {
    const opening = { index: 0, id: 'a', name: 'now', arguments: '{}' };
    expect(callsOf([opening], [{ index: 0, arguments: '' }])).toEqual([['now', '{}']]);
  });

  it('are two calls where each has {} and an id of its own', () => {
    const call = { index: 0, name: 'now', arguments: '{}' };
    expect(callsOf([{ ...call, id: 'a' }], [{ ...call, id: 'b' }])).toEqual([
      ['now', '{}'],
      ['now', '{}'],
    ]);
  });

  it('are two calls where the second begins under the index of the first, and goes on under its own', () => {
    const first = { index: 0, id: 'a', name: 'now', arguments: '{"city":"Oslo"}' };
    const second = { index: 0, id: 'b', name: 'then' };
    const [head, tail] = ['{"city":', '"Rome"}'];
    const calls = [
      ['now', '{"city":"Oslo"}'],
      ['then', '{"city":"Rome"}'],
    ];
    const pieces = [[{ index: 1, arguments: head }], [{ index: 1, arguments: tail }]];
    expect(callsOf([first], [second], ...pieces)).toEqual(calls);
    expect(callsOf([first], [{ ...second, arguments: head }], [{ index: 1, arguments: tail }])).toEqual(
      calls,
    );
  });

  it('are two calls where the arguments of the second come before its name', () => {
    const first = { index: 0, id: 'a', name: 'now', arguments: '{"city":"Oslo"}' };
    expect(callsOf([first], [{ index: 1, arguments: '{"a":1}' }], [{ index: 1, name: 'then' }])).toEqual([
      ['now', '{"city":"Oslo"}'],
      ['then', '{"a":1}'],
    ]);
  });

  it('are two calls where one chunk names two, without index, id and arguments', () => {
    expect(callsOf([{ name: 'now' }, { name: 'now' }])).toEqual([
      ['now', '{}'],
      ['now', '{}'],
    ]);
  });

  const whole = { id: 'a', name: 'now', arguments: '{"city":"Oslo"}' };
  const opened = { id: 'a', name: 'now', arguments: '' };
  const spaced = '{ "city": "Oslo" }';

  it.each<{ readonly how: string; readonly chunks: readonly (readonly object[])[] }>([
    {
      how: 'behind its pieces under another index',
      chunks: [
        [{ index: 0, ...opened }],
        [{ index: 0, arguments: whole.arguments }],
        [{ index: 1, ...whole }],
      ],
    },
    { how: 'under another index', chunks: [[{ index: 0, ...whole }], [{ index: 1, ...whole }]] },
    {
      how: 'under another index, with its name first and its arguments later',
      chunks: [[{ index: 0, ...opened }], [{ index: 1, id: 'a', arguments: whole.arguments }]],
    },
    {
      how: 'in one chunk, without an index',
      chunks: [[whole, { ...whole, arguments: spaced }]],
    },
    {
      how: 'behind its pieces under the same index',
      chunks: [
        [{ index: 0, ...opened }],
        [{ index: 0, arguments: whole.arguments }],
        [{ index: 0, ...whole }],
      ],
    },
    {
      how: 'behind its pieces, with the arguments encoded twice',
      chunks: [
        [{ index: 0, ...whole }],
        [{ index: 0, ...whole, arguments: JSON.stringify(whole.arguments) }],
      ],
    },
    {
      how: 'with its arguments only',
      chunks: [[{ index: 0, ...opened }], ...Array(3).fill([{ index: 0, arguments: whole.arguments }])],
    },
  ])('are one call where a server repeats it $how', ({ chunks }) => {
    expect(callsOf(...chunks)).toEqual([['now', whole.arguments]]);
  });

  it.each([
    ['another id', { ...whole, id: 'b' }],
    ['no id', { ...whole, id: '' }],
    ['another name', { ...whole, name: 'later' }],
    ['other arguments', { ...whole, arguments: '{"city":"Rome"}' }],
  ])('are two calls where the second has %s', (_what, second) => {
    expect(callsOf([{ index: 0, ...whole }], [{ index: 1, ...second }])).toEqual([
      ['now', whole.arguments],
      [second.name, second.arguments],
    ]);
  });

  it('are a call that cannot be read where the repeated piece is no JSON', () => {
    const broken = '{"city":';
    expect(callsOf([{ index: 0, ...opened, arguments: broken }], [{ index: 0, arguments: broken }])).toEqual([
      ['now', broken + broken],
    ]);
  });
});
