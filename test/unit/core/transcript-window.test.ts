import { describe, expect, it } from 'vitest';
import type { ModelMessage, UserMessage } from '../../../src/core/conversation/model-message.ts';
import { estimateTokens } from '../../../src/core/conversation/token-estimate.ts';
import { transcriptWindow } from '../../../src/core/conversation/transcript-window.ts';
import { callIdsIn } from '../../support/models/steps.ts';

const user = (text: string): UserMessage => ({ role: 'user', text });
const assistant = (text: string, ...callIds: string[]): ModelMessage => ({
  role: 'assistant',
  parts: [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...callIds.map((callId) => ({ type: 'toolCall' as const, callId, name: 'x', arguments: {} })),
  ],
});
const tool = (callId: string, text = 'ok'): ModelMessage => ({ role: 'tool', callId, name: 'x', text });
const long = 'x'.repeat(400);

const conversation = [
  user('one'),
  assistant('1'),
  user('two'),
  assistant('', 'a', 'b'),
  tool('a'),
  tool('b'),
  assistant('2'),
  user('three'),
];
const sumOf = (messages: readonly ModelMessage[]): number =>
  messages.reduce((sum, message) => sum + estimateTokens(message), 0);
const total = sumOf(conversation);

describe('the window of a conversation', () => {
  it('is the whole of it when it fits', () => {
    expect(transcriptWindow(conversation, total)).toEqual(conversation);
    expect(transcriptWindow([], 10)).toEqual([]);
  });

  it('begins with a reply only if the conversation does', () => {
    const greeted = [assistant('hello'), ...conversation];
    expect(transcriptWindow(greeted, sumOf(greeted))).toEqual(greeted);
    expect(transcriptWindow(greeted, sumOf(greeted) - 1)).toEqual(conversation);
  });

  it('drops the oldest turns first', () => {
    expect(transcriptWindow(conversation, total - 1)).toEqual(conversation.slice(2));
  });

  it('holds the last message of the user whatever its size', () => {
    expect(transcriptWindow([user('old'), assistant('1'), user(long)], 1)).toEqual([user(long)]);
  });

  it('drops the oldest steps of a turn that is too long by itself', () => {
    const turn = [user('go'), assistant(long, 'a'), tool('a', long), assistant('', 'b'), tool('b')];
    expect(transcriptWindow([user('old'), ...turn], 60)).toEqual([user('go'), assistant('', 'b'), tool('b')]);
  });

  it('holds the newest step with its results whatever its size, so that the model sees what it asked for', () => {
    const turn = [
      user(long),
      assistant('', 'a'),
      tool('a'),
      assistant('', 'b', 'c'),
      tool('b', long),
      tool('c'),
    ];
    expect(transcriptWindow([user('old'), ...turn], 1)).toEqual([user(long), ...turn.slice(3)]);
    expect(transcriptWindow([...turn, assistant('done'), user('next')], 1)).toEqual([user('next')]);
  });

  it('holds the question and the reply to which a correction belongs, whatever their size', () => {
    const correction: UserMessage = { role: 'user', text: 'It is not JSON.', correction: true };
    const rejected = [assistant(long), correction];
    const turn = [user(long), assistant('', 'a'), tool('a', long), ...rejected];
    expect(transcriptWindow([user('old'), ...turn], 1)).toEqual([user(long), ...rejected]);
    expect(transcriptWindow([...turn, assistant('', 'b'), tool('b')], 1)).toEqual([
      user(long),
      assistant('', 'b'),
      tool('b'),
    ]);
  });

  it('does not begin with the correction of an earlier turn', () => {
    const correction: UserMessage = { role: 'user', text: 'It is not JSON.', correction: true };
    const earlier = [user(long), assistant('1'), correction, assistant('{}')];
    expect(transcriptWindow([...earlier, user('two')], 40)).toEqual([user('two')]);
  });

  it('is the same for a message that follows as for one that is in the conversation already', () => {
    for (const next of [user('next'), user(long)]) {
      for (let budget = 0; budget <= total + estimateTokens(next); budget += 1) {
        for (let length = 0; length <= conversation.length; length += 1) {
          const before = conversation.slice(0, length);
          const expected = transcriptWindow([...before, next], budget);
          expect(transcriptWindow(before, budget, next)).toEqual(expected);
        }
      }
    }
  });

  it('begins like the one before as long as a quarter of it is not used up', () => {
    const maxTokens = 8_000;
    const messages: ModelMessage[] = [];
    const begins = new Set<ModelMessage | undefined>();
    let tokens = 0;
    for (let turn = 0; turn < 400; turn += 1) {
      // Without `next` and with it, and while the calls of a step come one by one, as in a session.
      const asked = user(`${turn} ${long}`);
      const window = transcriptWindow(messages, maxTokens, asked);
      messages.push(asked);
      expect(transcriptWindow(messages, maxTokens)).toEqual(window);
      messages.push(assistant('', `a${turn}`));
      transcriptWindow(messages, maxTokens);
      messages[messages.length - 1] = assistant(long, `a${turn}`, `b${turn}`);
      messages.push(tool(`a${turn}`), tool(`b${turn}`), assistant('done'));

      const shown = transcriptWindow(messages, maxTokens);
      begins.add(shown[0]);
      expect(shown).toEqual(transcriptWindow([...messages], maxTokens));
      tokens = sumOf(messages);
      expect(sumOf(shown)).toBeLessThanOrEqual(maxTokens);
      if (tokens > maxTokens) expect(sumOf(shown)).toBeGreaterThan(0.7 * maxTokens);
    }
    expect(tokens).toBeGreaterThan(10 * maxTokens);
    expect(begins.size).toBe(1 + Math.ceil((tokens - maxTokens) / (maxTokens / 4)));
  });

  it('begins with a user’s message and pairs every call, whatever the budget', () => {
    for (let budget = 0; budget <= total; budget += 1) {
      const window = transcriptWindow(conversation, budget);
      expect(window[0]?.role).toBe('user');
      expect(window.at(-1)).toEqual(user('three'));
      const asked = window.flatMap(callIdsIn);
      const answered = window.flatMap((message) => (message.role === 'tool' ? [message.callId] : []));
      expect(answered).toEqual(asked);
      expect(sumOf(window)).toBeLessThanOrEqual(Math.max(budget, estimateTokens(user('three'))));
    }
  });
});
