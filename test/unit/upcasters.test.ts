import { describe, expect, it } from 'vitest';
import { currentEvents } from '../../src/core/log/event-codec.ts';
import type { SessionEvent } from '../../src/core/log/events.ts';

/** A step as version 1 had it. */
const step = { type: 'step.completed', turnId: 't', step: 2, text: 'Let me look.', separator: '\n\n' };
const steps = { turnId: 't', step: 2, separator: '\n\n', source: null, type: 'step.completed' } as const;

describe('a step of version 1', () => {
  it('is a text and then its tool calls, in their order, by a model that the log does not tell', () => {
    expect(currentEvents.parse({ ...step, callIds: ['a', 'b'] }, 1)).toStrictEqual({
      ...steps,
      parts: [
        { type: 'text', text: 'Let me look.' },
        { type: 'toolCall', callId: 'a' },
        { type: 'toolCall', callId: 'b' },
      ],
    });
  });

  it('is its calls alone when it said nothing', () => {
    expect(currentEvents.parse({ ...step, text: '', callIds: ['a'] }, 1)).toStrictEqual({
      ...steps,
      parts: [{ type: 'toolCall', callId: 'a' }],
    });
  });

  it('is its text alone when it asked for nothing, and keeps its usage', () => {
    const usage = { inputTokens: 12, outputTokens: 3 };
    expect(currentEvents.parse({ ...step, callIds: [], usage }, 1)).toStrictEqual({
      ...steps,
      parts: [{ type: 'text', text: 'Let me look.' }],
      usage,
    });
  });

  it('has no part when it neither said nor asked for anything', () => {
    expect(currentEvents.parse({ ...step, text: '', callIds: [] }, 1)).toStrictEqual({ ...steps, parts: [] });
  });

  it('is read from a log, where it has no mark of its version', () => {
    const stored = JSON.stringify({ ...step, callIds: ['a'] });
    expect(currentEvents.decode(stored)).toMatchObject({
      parts: [{ text: 'Let me look.' }, { callId: 'a' }],
    });
  });

  it.each([{ text: 7 }, { text: undefined }, { callIds: [7] }])(
    'is refused when it is none: %j',
    (change) => {
      expect(() => currentEvents.parse({ ...step, callIds: [], ...change }, 1)).toThrow('parts');
    },
  );
});

describe('an event of version 1 that is no step', () => {
  it.each<SessionEvent>([
    { type: 'turn.requested', turnId: 't', text: 'What is callIds?' },
    { type: 'turn.completed', turnId: 't', content: 'A field.' },
    { type: 'session.reset' },
  ])('stays as it is: $type', (event) => {
    expect(currentEvents.parse(event, 1)).toStrictEqual(event);
  });
});

it('an event of today is marked with version 2, and read as it was written', () => {
  const opaque = { signature: 'x', list: [null, 1.5, { deep: true }] };
  const event: SessionEvent = {
    ...steps,
    parts: [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'opaque', data: opaque },
      { type: 'text', text: 'No.', opaque },
      { type: 'refusal', text: 'I will not.' },
      { type: 'toolCall', callId: 'a', opaque },
    ],
    source: { api: 'chat', provider: 'p', model: 'm' },
    finishReason: 'length',
    usage: { inputTokens: 1, outputTokens: 2, cachedTokens: 0, reasoningTokens: 1 },
  };
  const written = currentEvents.encode(event);
  expect(JSON.parse(written)).toEqual({ v: 2, ...event });
  expect(currentEvents.decode(written)).toStrictEqual(event);
});
