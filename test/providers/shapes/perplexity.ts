import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const envelope = { id: 'sanitized-live-stream-response', model: 'sonar', created: 1_788_310_800 };

/** Perplexity, as an OpenAI-compatible server. */
export const perplexityShapes: ProviderShapes = {
  provider: 'openai-compatible',
  api: 'chat',
  shapes: [
    {
      name: 'sends usage and cost in every chunk, and calls the last one chat.completion.done',
      source:
        'https://github.com/vercel/ai/blob/568703630c872a817ab3ef8a19b02ea76e7b9615/packages/perplexity/src/__fixtures__/perplexity-usage-raw-live.chunks.txt',
      answer: {
        body: events(
          {
            ...envelope,
            usage: {
              completion_tokens: 1,
              cost: { input_tokens_cost: 0, output_tokens_cost: 0, total_cost: 0 },
              prompt_tokens: 6,
              search_context_size: 'low',
              total_tokens: 7,
            },
            object: 'chat.completion.chunk',
            choices: [{ index: 0, delta: { role: 'assistant', content: 'OK' }, finish_reason: null }],
          },
          {
            ...envelope,
            usage: {
              completion_tokens: 1,
              cost: {
                input_tokens_cost: 0.00001,
                output_tokens_cost: 0,
                request_cost: 0.005,
                total_cost: 0.00501,
              },
              prompt_tokens: 6,
              search_context_size: 'low',
              total_tokens: 7,
            },
            object: 'chat.completion.done',
            choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: 'stop' }],
          },
          DONE,
        ),
      },
      expected: { text: 'OK', usage: { inputTokens: 6, outputTokens: 1 } },
      sdk: 'agrees',
    },
  ],
};
