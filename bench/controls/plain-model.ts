import { setImmediate as nextLoop } from 'node:timers/promises';
import OpenAI from 'openai';
import type { ReplyPieces } from './control-options.ts';

type Message = { readonly role: 'user' | 'assistant'; readonly content: string };
/** Streams the texts of the reply to the last message. */
export type Replies = (history: readonly Message[]) => AsyncIterable<string>;

const PIECES_PER_LOOP = 16;

/** Replies by OpenAI's SDK over chat completions, used as its documentation shows. */
export function openAiReplies(baseURL: string): Replies {
  const client = new OpenAI({ baseURL, apiKey: 'none' });
  return async function* reply(history) {
    const stream = await client.chat.completions.create({
      model: 'bench',
      messages: [{ role: 'system', content: 'You are a helpful assistant.' }, ...history],
      stream: true,
    });
    for await (const chunk of stream) {
      const text = chunk.choices[0]?.delta.content;
      if (text) yield text;
    }
  };
}

/** Replies by OpenAI's SDK over the Responses API. */
export function openAiResponses(baseURL: string): Replies {
  const client = new OpenAI({ baseURL, apiKey: 'none' });
  return async function* reply(history) {
    const stream = await client.responses.create({
      model: 'bench',
      instructions: 'You are a helpful assistant.',
      input: [...history],
      stream: true,
    });
    for await (const event of stream) if (event.type === 'response.output_text.delta') yield event.delta;
  };
}

/** The replies of the service's scripted model, without a model service. */
export function scriptedReplies({ piece, pieces }: ReplyPieces): Replies {
  return async function* reply(history) {
    const message = history.at(-1)?.content ?? '';
    await nextLoop();
    if (message !== 'stream') {
      yield `you said ${message}`;
      return;
    }
    for (let index = 0; index < pieces; index += 1) {
      if (index > 0 && index % PIECES_PER_LOOP === 0) await nextLoop();
      yield piece;
    }
  };
}
