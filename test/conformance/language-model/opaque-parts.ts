import { expect } from 'vitest';
import { z } from 'zod';
import type { AssistantMessage, ModelMessage } from '../../../src/core/conversation/model-message.ts';
import type { LanguageModel, ModelReply, ModelRequest } from '../../../src/ports/language-model.ts';
import { callsIn, replyText } from '../../support/models/replies.ts';
import { type Answer, calls, question, reply, STILL_HERE, says, thinks } from './answers.ts';
import { type LanguageModelHarness, type Subject, scenario } from './harness.ts';
import { ask, askInVain } from './outcome.ts';

const Arguments = z.record(z.string(), z.unknown());
const THOUGHTFUL = reply(
  ...thinks('Let me', ' see.'),
  ...says('I look.'),
  calls('c1', 'search', '{"query":"x"}'),
  calls('c2', 'search', '{"query":"y"}'),
);

/** Failures in the middle of a conversation that has opaque parts. */
const failures: Readonly<Record<string, Answer>> = {
  'a refused key': { kind: 'refused', error: 'key' },
  'a long wait': { kind: 'refused', error: 'rate', headers: { 'retry-after': '120' } },
  'an overloaded provider': { kind: 'refused', error: 'overloaded' },
  'a context that is too long': { kind: 'refused', error: 'context' },
  'an image that was refused': { kind: 'refused', error: 'image' },
  'an error in the stream': { kind: 'error', said: says('Half'), error: 'overloaded' },
  'a broken stream': { kind: 'truncated', said: says('Half'), by: 'reset' },
  'a content filter': { kind: 'reply', said: says('Half'), ending: 'filtered' },
  'an empty reply': reply(),
};

export function opaqueScenarios(harness: LanguageModelHarness): void {
  scenario(harness, 'opaque parts', 'sends back verbatim what the provider wants back', async () => {
    await using subject = await harness.open([THOUGHTFUL]);
    const next = await nextRequest(subject);
    const { reply: last } = await ask(subject, next);
    expect(replyText(last)).toBe(STILL_HERE);
    expectReturned(harness, subject, 1);
  });

  scenario(harness, 'opaque parts', 'sends it back the same when it came from a log', async () => {
    await using subject = await harness.open([THOUGHTFUL]);
    const next = await nextRequest(subject);
    const messages = JSON.parse(JSON.stringify(next.messages));
    await using later = await harness.open([]);
    await ask(later, { ...next, messages });
    expectReturned(harness, later, 0);
  });

  for (const [name, failure] of Object.entries(failures)) {
    scenario(harness, 'opaque parts', `goes on after ${name}, and still sends it back`, async () => {
      await using subject = await harness.open([THOUGHTFUL, failure], { maxRetries: 0 });
      const next = await nextRequest(subject);
      await askInVain(subject, next);
      const { reply: last } = await ask(subject, next);
      expect(replyText(last)).toBe(STILL_HERE);
      expectReturned(harness, subject, subject.requests.length - 1);
    });
  }
}

function expectReturned({ returned }: LanguageModelHarness, { requests }: Subject, number: number): void {
  expect(requests[number]?.text).toContain(returned);
}

/** Asks, and makes the request that follows on the answer: with the reply, and the results of its calls. */
async function nextRequest(subject: Subject): Promise<ModelRequest> {
  const first = question();
  const { reply: thoughtful } = await ask(subject, first);
  expect(thoughtful.parts.some(({ type }) => type === 'opaque')).toBe(true);
  const results = callsIn(thoughtful).map(({ callId, name }): ModelMessage => {
    return { role: 'tool', callId, name, text: `result of ${callId}` };
  });
  return { ...first, messages: [...first.messages, assistantMessage(subject.model, thoughtful), ...results] };
}

function assistantMessage({ source }: LanguageModel, { parts }: ModelReply): AssistantMessage {
  return {
    role: 'assistant',
    parts: parts.map((part) =>
      part.type === 'toolCall' ? { ...part, arguments: Arguments.parse(JSON.parse(part.arguments)) } : part,
    ),
    ...(source && { source }),
  };
}
