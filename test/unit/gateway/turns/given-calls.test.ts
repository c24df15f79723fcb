import { describe, expect, it } from 'vitest';
import { givenThread } from '../../../../src/gateway/ag-ui/given-thread.ts';
import type { InputMessage } from '../../../../src/gateway/ag-ui/run-input.ts';
import type { ChatMessage } from '../../../../src/gateway/openai/chat/chat-request.ts';
import { givenHistory } from '../../../../src/gateway/openai/chat/given-conversation.ts';
import { placedInChat } from '../../../../src/gateway/openai/chat/placed-message.ts';
import { inputMessages } from '../../../../src/gateway/openai/responses/input-messages.ts';

/** If each call took as long as there are calls before it, the tests would end with their time limit. */
const MANY = 40_000;
const ids = Array.from({ length: MANY }, (_, index) => `call-${index}`);
const callOf = (id: string) => ({
  id,
  type: 'function' as const,
  function: { name: `of-${id}`, arguments: '{}' },
});
const named = [
  { role: 'assistant', calls: { length: MANY } },
  ...ids.map((callId) => ({ role: 'tool', callId, name: `of-${callId}`, text: 'done' })),
];

describe('a conversation with many tool calls', () => {
  it('of chat completions is read in one pass', () => {
    const messages: ChatMessage[] = [
      { role: 'assistant', tool_calls: ids.map(callOf) },
      ...ids.map((id) => ({ role: 'tool' as const, tool_call_id: id, content: 'done' })),
    ];
    expect(givenHistory(placedInChat(messages), { maxImageBytes: false }).history).toMatchObject(named);
  });

  it('of responses is read in one pass', () => {
    const input = ids.map((call_id) => ({
      type: 'function_call' as const,
      call_id,
      name: 'f',
      arguments: '{}',
    }));
    const items = [{ type: 'message' as const, role: 'assistant' as const, content: 'hi' }, ...input];
    const placed = inputMessages(items.map((item, at) => ({ item, at })));
    expect(placed.map(({ message }) => message)).toMatchObject([
      { role: 'assistant', content: 'hi', tool_calls: { length: MANY } },
    ]);
  });

  it('of AG-UI is read in one pass', () => {
    const messages: InputMessage[] = [
      { role: 'assistant', id: 'a', toolCalls: ids.map(callOf) },
      ...ids.map((id) => ({ role: 'tool' as const, id, toolCallId: id, content: 'done' })),
    ];
    const { history } = givenThread(messages, { maxImageBytes: false, isKnown: false });
    expect(history).toMatchObject(named);
  });
});
