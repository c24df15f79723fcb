import { describe, expect, it } from 'vitest';
import type { ModelMessage } from '../../../src/core/conversation/model-message.ts';
import { SessionLog } from '../../support/log/session-log.ts';
import { callIdsIn, completeStep, textOf } from '../../support/models/steps.ts';

/** What every provider demands: each tool call is followed by exactly one result, and no result comes alone. */
function expectPaired(transcript: readonly ModelMessage[]): void {
  const asked = transcript.flatMap(callIdsIn);
  const answered = transcript.flatMap((message) => (message.role === 'tool' ? [message.callId] : []));
  expect(answered.toSorted()).toEqual(asked.toSorted());
}

describe('the transcript', () => {
  it('holds what was said, tool calls and their results, in order', () => {
    const log = new SessionLog();
    log.tell({ type: 'turn.start', turnId: 'a', text: 'hello' });
    log.askForTools('a', 1, 'let me see');
    const result = { content: [{ type: 'text', text: 'ok' }] };
    log.tell({
      type: 'tool-call.settle',
      turnId: 'a',
      callId: 'a-again',
      outcome: { status: 'succeeded', result },
    });
    log.tell({
      type: 'tool-call.settle',
      turnId: 'a',
      callId: 'a-once',
      outcome: { status: 'failed', reason: 'broken' },
    });
    log.tell(completeStep({ turnId: 'a', step: 2, text: 'done' }));
    expect(log.state.transcript).toEqual([
      { role: 'user', text: 'hello' },
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'let me see' },
          { type: 'toolCall', callId: 'a-once', name: 'echo', arguments: { a: 1 } },
          { type: 'toolCall', callId: 'a-again', name: 'echo', arguments: { a: 1 } },
        ],
      },
      { role: 'tool', callId: 'a-again', name: 'echo', text: 'ok' },
      { role: 'tool', callId: 'a-once', name: 'echo', text: 'The tool failed: broken' },
      { role: 'assistant', parts: [{ type: 'text', text: 'done' }] },
    ]);
    expectPaired(log.state.transcript);
  });

  it('shows a waiting message only when its turn has begun', () => {
    const log = new SessionLog();
    log.tell({ type: 'turn.start', turnId: 'a', text: 'first' });
    log.tell({ type: 'turn.start', turnId: 'b', text: 'second' });
    expect(log.state.transcript).toEqual([{ role: 'user', text: 'first' }]);
    log.tell(completeStep({ turnId: 'a', text: 'one' }));
    expect(log.state.transcript.map(textOf)).toEqual(['first', 'one', 'second']);
  });

  it('keeps the partial text of a cancelled turn, marked, and every call paired', () => {
    const log = new SessionLog();
    log.tell({ type: 'turn.start', turnId: 'a', text: 'hello' });
    log.askForTools('a');
    log.tell({ type: 'turn.cancel', turnId: 'a', reason: 'stop', partial: 'I was go' });
    expect(log.state.transcript.at(-1)).toEqual({
      role: 'assistant',
      parts: [{ type: 'text', text: 'I was go' }],
      cut: 'cancelled',
    });
    expectPaired(log.state.transcript);
  });

  it('keeps the image of a message', () => {
    const log = new SessionLog();
    const image = { base64: 'aaaa', mimeType: 'image/png' } as const;
    log.tell({ type: 'turn.start', turnId: 'a', text: 'look', image });
    expect(log.state.transcript).toEqual([{ role: 'user', text: 'look', images: [image] }]);
  });

  it('gets no message from a turn that answers what is there already', () => {
    const log = new SessionLog();
    log.tell({ type: 'turn.start', turnId: 'a', text: 'hello' });
    log.tell({ type: 'turn.cancel', turnId: 'a', reason: 'stop', partial: '' });
    log.tell({ type: 'turn.start', turnId: 'b', text: '', given: [] });
    expect(log.state.transcript).toEqual([{ role: 'user', text: 'hello' }]);
  });

  it('takes a conversation of any length that a client brings', () => {
    const log = new SessionLog();
    const given = Array.from({ length: 200_000 }, () => ({ role: 'user' as const, text: 'hi' }));
    log.tell({ type: 'turn.start', turnId: 'a', text: 'hello', given });
    expect(log.state.transcript).toHaveLength(200_001);
  });
});
