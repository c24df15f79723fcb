import { describe, expect, it } from 'vitest';
import { currentEvents } from '../../../src/core/log/event-codec.ts';
import type { LoggedEvent, SessionEvent } from '../../../src/core/log/events.ts';

/** A step as version 1 had it. */
const step = { type: 'step.completed', turnId: 't', step: 2, text: 'Let me look.', separator: '\n\n' };
/** An event as format 1 had it, read. */
function readFormat1(event: object): LoggedEvent {
  return currentEvents.parse(event, undefined, 1).event;
}

const steps = { turnId: 't', step: 2, separator: '\n\n', source: null, type: 'step.completed' } as const;

describe('a step of version 1', () => {
  it('is a text and then its tool calls, in their order, by a model that the log does not tell', () => {
    expect(readFormat1({ ...step, callIds: ['a', 'b'] })).toStrictEqual({
      ...steps,
      parts: [
        { type: 'text', text: 'Let me look.' },
        { type: 'toolCall', callId: 'a' },
        { type: 'toolCall', callId: 'b' },
      ],
    });
  });

  it('is its calls alone when it said nothing', () => {
    expect(readFormat1({ ...step, text: '', callIds: ['a'] })).toStrictEqual({
      ...steps,
      parts: [{ type: 'toolCall', callId: 'a' }],
    });
  });

  it('is its text alone when it asked for nothing, and keeps its usage', () => {
    const usage = { inputTokens: 12, outputTokens: 3 };
    expect(readFormat1({ ...step, callIds: [], usage })).toStrictEqual({
      ...steps,
      parts: [{ type: 'text', text: 'Let me look.' }],
      usage,
    });
  });

  it('has no part when it neither said nor asked for anything', () => {
    expect(readFormat1({ ...step, text: '', callIds: [] })).toStrictEqual({ ...steps, parts: [] });
  });

  it('is read from a log, where it has no mark of its version', () => {
    const stored = JSON.stringify({ ...step, callIds: ['a'] });
    expect(currentEvents.decode(stored).event).toMatchObject({
      parts: [{ text: 'Let me look.' }, { callId: 'a' }],
    });
  });

  it.each([{ text: 7 }, { text: undefined }, { callIds: [7] }])(
    'is refused when it is none: %j',
    (change) => {
      expect(() => readFormat1({ ...step, callIds: [], ...change })).toThrow('parts');
    },
  );
});

describe('an event of version 1 that is no step', () => {
  it.each<SessionEvent>([
    { type: 'turn.requested', turnId: 't', text: 'What is callIds?' },
    { type: 'turn.completed', turnId: 't', content: 'A field.' },
    { type: 'session.reset' },
  ])('stays as it is: $type', (event) => {
    expect(readFormat1(event)).toStrictEqual(event);
  });
});

describe('an ending of version 1', () => {
  const call = { turnId: 't', callId: 'c', toolName: 'add', serverId: 'math' };
  const cut = { turnId: 't', step: 1, separator: '', partial: '' };

  it.each([
    { type: 'turn.cancelled', ...cut, reason: 'the conversation was reset' },
    { type: 'turn.failed', ...cut, error: { code: 'AGENT_ERROR', message: 'No.', details: {} } },
    { type: 'tool-call.failed', ...call, reason: 'the turn was cancelled' },
    { type: 'tool-call.interrupted', ...call, reason: 'the service stopped while it ran' },
  ])('has no recorded cause, whatever its sentence says: $type', (event) => {
    expect(readFormat1(event)).toEqual({ ...event, cause: { kind: 'unrecorded' } });
    expect(currentEvents.parse(event, undefined, 2).event).toEqual({
      ...event,
      cause: { kind: 'unrecorded' },
    });
  });

  it('has a cause in version 2, and is refused without one', () => {
    const cancelled = { type: 'turn.cancelled', ...cut, reason: 'x' };
    const cause = { kind: 'session-forked', from: 'origin' };
    expect(currentEvents.parse({ ...cancelled, cause }, { version: 2 }, 3).event).toEqual({
      ...cancelled,
      cause,
    });
    expect(() => currentEvents.parse(cancelled, { version: 2 }, 3)).toThrow('cause');
  });
});

it('a step of today has version 2, and is read as it was written', () => {
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
  const written = currentEvents.encode({ event, meta: null });
  expect(JSON.parse(written)).toEqual({ v: 3, meta: { version: 2 }, ...event });
  expect(currentEvents.decode(written)).toStrictEqual({ event, meta: null });
});
