import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

export const fireworksShapes: ProviderShapes = {
  provider: 'fireworks',
  api: 'chat',
  shapes: [
    {
      name: 'leaves finish_reason out until the end, and sends the usage without choices',
      source:
        'https://github.com/langchain-ai/langchain/blob/04e7a55f0bbfcbc439a67de4245d107d24dc196f/libs/partners/fireworks/tests/unit_tests/test_chat_models.py',
      answer: {
        body: events(
          { choices: [{ delta: { role: 'assistant', content: '' }, index: 0 }] },
          { choices: [{ delta: { content: 'Hello' }, index: 0 }] },
          { choices: [{ delta: {}, finish_reason: 'stop', index: 0 }] },
          { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
          DONE,
        ),
      },
      expected: { text: 'Hello', usage: { inputTokens: 5, outputTokens: 2 } },
      sdk: 'agrees',
    },
  ],
};
