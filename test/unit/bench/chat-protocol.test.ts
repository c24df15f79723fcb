import { describe, expect, it } from 'vitest';
import { chatReplies } from '../../../bench/support/chat-protocol.ts';
import { ChatChunks } from '../../../src/gateway/openai/chat/chat-answers.ts';

const pieces = ['The', ' é"nd', ' of "},"logprobs"', '\n', '"delta":{"content":"'];

describe('a stream of chat completions, for the benches', () => {
  it('has all texts, still escaped, and nothing else', () => {
    const place = { sessionId: 's', turnId: 't', firstStep: 1, model: 'default', created: 1 };
    for (const hasUsage of [false, true]) {
      const chunks = new ChatChunks(place, hasUsage);
      const events = [
        chunks.begin(),
        ...pieces.map((piece) => chunks.piece(piece)),
        chunks.end({ content: pieces.join('') }, null),
      ];
      const texts = events
        .join('')
        .split('\n\n')
        .map((event) => chatReplies.textOf(event))
        .filter((text) => text !== null);
      expect(JSON.parse(`"${texts.join('')}"`)).toBe(pieces.join(''));
      expect(texts).toHaveLength(pieces.length);
    }
  });
});
