import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../../src/core/log/envelope.ts';
import type { ReplyReasoning } from '../../../src/core/session/session-signal.ts';
import type { StepPart } from '../../../src/core/turn/reply-parts.ts';
import { encodeResumable, resumableFrame } from '../../../src/gateway/stream/resumable-frames.ts';
import { encodeSignal, encodeWithReasoning } from '../../../src/gateway/stream/server-frames.ts';
import { ResumableFrame, ServerFrame } from '../../../src/wire/frames.ts';
import { stepCompleted } from '../../support/models/steps.ts';

const place = { turnId: 't', step: 2, offset: 30 };
const thought: ReplyReasoning = { type: 'reply.reasoning', sessionId: 's', content: 'Hm "so"', ...place };
const frame = {
  event: 'thinking',
  data: { message: 'The agent is working on a reply.', reasoning: 'Hm "so"' },
};

describe('a piece of what the model thinks aloud', () => {
  it('is no frame for a client that has not asked for it', () => {
    expect(encodeSignal(thought)).toBeNull();
  });

  it('is a `thinking` frame for one that has, which hears all the rest as others do', () => {
    expect(ServerFrame.parse(JSON.parse(encodeWithReasoning(thought) ?? ''))).toStrictEqual(frame);
    const chunk = { ...thought, type: 'reply.chunk' as const };
    expect(encodeWithReasoning(chunk)).toBe(encodeSignal(chunk));
  });

  it('has its place for a client that resumes', () => {
    expect(ResumableFrame.parse(JSON.parse(encodeResumable(thought)))).toStrictEqual({ ...frame, ...place });
  });
});

describe('the frame of a step', () => {
  const stepOf = (parts: StepPart[], more: object = {}): Envelope => ({
    sessionId: 's',
    seq: 7,
    time: 0,
    meta: null,
    event: { ...stepCompleted({ turnId: 't', step: 2, separator: '\n\n' }), parts, ...more },
  });

  it('tells what was said and thought, how it ended, which model it was, and what it used', () => {
    const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 0 };
    const source = { api: 'responses', provider: 'openai', model: 'gpt-test' };
    const parts: StepPart[] = [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'opaque', data: { encrypted: 'x' } },
      { type: 'text', text: 'I will. ', opaque: { signature: 'x' } },
      { type: 'reasoning', text: ' Or not.' },
      { type: 'refusal', text: 'I will not.' },
      { type: 'toolCall', callId: 'a', opaque: { signature: 'x' } },
    ];
    const sent = resumableFrame(stepOf(parts, { source, usage, finishReason: 'length' }));
    expect(ResumableFrame.parse(sent)).toStrictEqual(sent);
    expect(sent).toStrictEqual({
      event: 'stepCompleted',
      data: {
        content: '\n\nI will. I will not.',
        step: 2,
        callIds: ['a'],
        reasoning: 'Hm. Or not.',
        finishReason: 'length',
        model: 'openai gpt-test',
        usage,
      },
      seq: 7,
      turnId: 't',
    });
  });

  it('leaves out what the log does not tell', () => {
    expect(resumableFrame(stepOf([{ type: 'text', text: 'Yes.' }]))).toStrictEqual({
      event: 'stepCompleted',
      data: { content: '\n\nYes.', step: 2, callIds: [] },
      seq: 7,
      turnId: 't',
    });
  });
});

describe('the frame of a reply', () => {
  it.each([[{}], [{ finishReason: 'length' as const }]])('tells how it ended: %j', (ended) => {
    const event = { type: 'turn.completed', turnId: 't', content: 'Yes.', ...ended } as const;
    const sent = encodeSignal({ sessionId: 's', seq: 1, time: 0, event, meta: null });
    expect(JSON.parse(sent ?? '')).toStrictEqual({ event: 'response', data: { content: 'Yes.', ...ended } });
  });
});
