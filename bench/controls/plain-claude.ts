import Anthropic from '@anthropic-ai/sdk';
import type { Replies } from './plain-model.ts';

/** As much as a reply may have, because the SDK wants to be told. */
const MAX_TOKENS = 8_192;

/** Anthropic's SDK as its documentation shows it. */
export function claudeReplies(upstream: string): Replies {
  // It adds the version to the address by itself.
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
