import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const envelope = { id: 'chatcmpl-issue-20203', model: 'test-model', object: 'chat.completion.chunk' };

/** OpenAI-compatible services of which one oddity each is known. */
export const otherServiceShapes: ProviderShapes = {
  provider: 'openai-compatible',
  api: 'chat',
  shapes: [
    {
      name: 'sends an empty list of tool calls in every chunk',
      source:
        'https://github.com/vercel/ai/blob/052ccebfc5051c638b5be2209f38aca22e22fd22/packages/openai-compatible/src/chat/__fixtures__/issue-20203-empty-tool-calls.chunks.txt',
      answer: {
        body: events(
          {
            ...envelope,
            choices: [
              {
                index: 0,
                delta: { role: 'assistant', content: '', reasoning_content: 'Think ', tool_calls: [] },
                finish_reason: null,
              },
            ],
          },
          {
            ...envelope,
            choices: [
              {
                index: 0,
                delta: { content: '', reasoning_content: 'more...', tool_calls: [] },
                finish_reason: null,
              },
            ],
          },
          {
            ...envelope,
            choices: [
              {
                index: 0,
                delta: { content: 'Hello', reasoning_content: '', tool_calls: [] },
                finish_reason: 'stop',
              },
            ],
          },
          DONE,
        ),
      },
      expected: { text: 'Hello', reasoning: 'Think more...' },
      sdk: 'agrees',
    },
    {
      // The report quotes status and message; users of the service quote the code with the same message.
      name: 'GitHub Models answers 413 where the conversation is too long for its free tier',
      source: 'https://github.com/actions/ai-inference/issues/128',
      answer: {
        status: 413,
        body: JSON.stringify({
          error: {
            code: 'tokens_limit_reached',
            message: 'Request body too large for gpt-4.1 model. Max size: 16000 tokens.',
          },
        }),
      },
      expected: { failure: /too long|too large|context/i },
    },
    {
      name: 'SambaNova names the wrong parameter in the form of OpenAI, beside a request_id',
      source: 'https://docs.sambanova.ai/docs/ja/api-reference/using-the-api/api-error-codes.md',
      answer: {
        status: 400,
        body: JSON.stringify({
          error: {
            message: 'Decimal above maximum value. Expected a value between 0 and 1, but got 100 instead.',
            type: 'invalid_request_error',
            param: 'top_p',
            code: 'decimal_above_max_value',
          },
          request_id: '2a8b3c4d-1234-5678-abcd-ef0123456789',
        }),
      },
      expected: { failure: /refused|top_p|decimal_above_max_value/i },
    },
  ],
};
