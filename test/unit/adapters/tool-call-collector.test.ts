import { describe, expect, it } from 'vitest';
import { ToolCallCollector } from '../../../src/adapters/openai/chat/tool-call-collector.ts';
import { ReplyCallIds } from '../../../src/model-http/reply/reply-call-ids.ts';

const fragment = (more: object) => ({
  ...{ index: undefined, id: '', name: '', arguments: '', extraContent: undefined },
  ...more,
});

function callsOf(...chunks: readonly (readonly object[])[]) {
  const collector = new ToolCallCollector();
  for (const chunk of chunks) collector.add(chunk.map(fragment));
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

  it('are two calls where one chunk names two, without index, id and arguments', () => {
    expect(callsOf([{ name: 'now' }, { name: 'now' }])).toEqual([
      ['now', '{}'],
      ['now', '{}'],
    ]);
  });
});
