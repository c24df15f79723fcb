import Anthropic from '@anthropic-ai/sdk';
import type { Replies } from './plain-model.ts';

/** The API requires a limit. */
const MAX_TOKENS = 8_192;

/** Replies by Anthropic's SDK, used as its documentation shows. */
export function claudeReplies(upstream: string): Replies {
  // The SDK adds the version to the URL.
  const client = new Anthropic({ baseURL: new URL(upstream).origin, apiKey: 'none' });
  return async function* reply(history) {
    const stream = await client.messages.create({
      model: 'bench',
      system: 'You are a helpful assistant.',
      messages: [...history],
      max_tokens: MAX_TOKENS,
      stream: true,
    });
    for await (const event of stream) {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') yield event.delta.text;
    }
  };
}
