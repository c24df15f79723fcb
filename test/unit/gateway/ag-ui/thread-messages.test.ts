import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../../../src/core/log/events.ts';
import { ThreadMessages } from '../../../../src/gateway/ag-ui/thread-messages.ts';

const turnId = 't1';
const added: SessionEvent = {
  type: 'session.extended',
  given: [
    { role: 'user', text: 'I am Ann.' },
    { role: 'assistant', text: 'Noted.' },
  ],
};

function threadOf(...events: SessionEvent[]) {
  const thread = new ThreadMessages();
  for (const [index, event] of events.entries()) thread.take({ event, seq: index + 1 });
  return thread.all;
}

describe('the messages of a thread', () => {
  it('have those that were added without a turn, in their place', () => {
    const thread = threadOf(
      { type: 'turn.requested', turnId, text: 'hello' },
      { type: 'turn.started', turnId },
      { type: 'turn.completed', turnId, content: '' },
      added,
    );
    expect(thread).toEqual([
      { id: 't1-in-0', role: 'user', content: 'hello' },
      { id: 'added-4-0', role: 'user', content: 'I am Ann.' },
      { id: 'added-4-1', role: 'assistant', content: 'Noted.' },
    ]);
  });

  it('are gone after a reset', () => {
    expect(threadOf(added, { type: 'session.reset' })).toEqual([]);
  });
});
