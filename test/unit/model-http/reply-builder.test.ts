import { expect, it } from 'vitest';
import { LlmConfig } from '../../../src/config/schema/llm-config.ts';
import { providerEndpoint } from '../../../src/model-http/provider/provider-endpoint.ts';
import { ReplyBuilder } from '../../../src/model-http/reply/reply-builder.ts';
import { ReplyRecord } from '../../support/models/replies.ts';

const access = providerEndpoint(
  LlmConfig.parse({ provider: 'openai', model: 'm', apiKey: 'key-of-a-test' }),
  {},
);

/** Whether the reply has its ending after each of these. */
function endings(...steps: ('a piece' | 'a finish reason')[]): boolean[] {
  const reply = new ReplyBuilder(access, new ReplyRecord());
  return steps.map((step) => {
    if (step === 'a piece') reply.text('Hi');
    else reply.noteEnding();
    return reply.hasEnding;
  });
}

it('a reply has its ending with the finish reason behind its last piece', () => {
  expect(endings('a piece', 'a finish reason')).toEqual([false, true]);
});

it('a finish reason before the first piece, or with each of them, ends nothing', () => {
  expect(endings('a finish reason', 'a piece', 'a finish reason')).toEqual([false, false, false]);
  const each = endings('a piece', 'a finish reason', 'a piece', 'a finish reason', 'a piece');
  expect(each.slice(2)).toEqual([false, false, false]);
});

it.each([
  ['tool_use', /without a name/],
  ['max_tokens', /token limit in the middle of a tool call/],
  ['model_context_window_exceeded', /too long for model/],
  ['refusal', /content filter/],
  [undefined, /before the reply was complete/],
])('a tool call without a name matters only in a complete reply: %s', (reason, told) => {
  const reply = new ReplyBuilder(access, new ReplyRecord());
  reply.toolCall({ callId: 'c1', name: '', arguments: '{}' });
  const end = { reason, hasIncompleteCall: true, hasNamelessCall: true, usage: undefined };
  expect(reasonOf(() => reply.finish(end))).toMatch(told);
});

function reasonOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return Object(error).details.reason;
  }
}
