import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

/** Cerebras writes the choices second and the object last. */
function cerebrasChunk(choice: object, more: object = {}) {
  return {
    id: 'chatcmpl-9e97f9ca-9626-4ef8-8543-6e3ee7cef659',
    choices: [{ ...choice, index: 0 }],
    created: 1_779_147_581,
    model: 'zai-glm-4.7',
    system_fingerprint: 'fp_a33c042689e969567008',
    object: 'chat.completion.chunk',
    ...more,
  };
}

export const cerebrasShapes: ProviderShapes = {
  provider: 'cerebras',
  api: 'chat',
  shapes: [
    {
      name: 'thinks aloud in reasoning, and sends a whole tool call and its times',
      source:
        'https://github.com/vercel/ai/blob/d7e3880f4afad1850ec9a1c948baf0221caa22b2/packages/cerebras/src/fixtures/cererebras-structured-output-tools.1.chunks.txt',
      answer: {
        body: events(
          cerebrasChunk({ delta: { role: 'assistant' } }),
          cerebrasChunk({ delta: { reasoning: 'The' } }),
          cerebrasChunk({ delta: { reasoning: ' user is asking about a "' } }),
          cerebrasChunk({ delta: { reasoning: 'magic number".' } }),
          cerebrasChunk({
            delta: {
              tool_calls: [
                {
                  function: { name: 'nonUsefulTool', arguments: '{}' },
                  type: 'function',
                  id: 'bbd2b9d98',
                  index: 0,
                },
              ],
            },
          }),
          cerebrasChunk(
            { delta: {}, finish_reason: 'tool_calls' },
            {
              usage: {
                total_tokens: 426,
                completion_tokens: 104,
                completion_tokens_details: {
                  accepted_prediction_tokens: 0,
                  rejected_prediction_tokens: 0,
                  reasoning_tokens: 97,
                },
                prompt_tokens: 322,
                prompt_tokens_details: { cached_tokens: 256 },
              },
              time_info: {
                created: 1_779_147_581.1957242,
                queue_time: 0.00306479,
                prompt_time: 0.01150595,
                completion_time: 0.16727912,
                total_time: 0.1844015121459961,
              },
            },
          ),
          DONE,
        ),
      },
      expected: {
        text: '',
        reasoning: 'The user is asking about a "magic number".',
        toolCalls: [{ name: 'nonUsefulTool', arguments: {} }],
        usage: { inputTokens: 322, outputTokens: 104, cachedTokens: 256, reasoningTokens: 97 },
      },
      sdk: 'agrees',
    },
    {
      name: 'answers 500 with an error of empty fields beside a status_code',
      source:
        'https://github.com/vercel/ai/blob/e0b0280e1d8b4fe453215090aac36f9c4f0c66a6/packages/cerebras/src/cerebras-error.test.ts',
      answer: {
        status: 500,
        body: JSON.stringify({
          status_code: 500,
          error: {
            message: 'Encountered a server error, please try again.',
            type: 'server_error',
            param: '',
            code: '',
            id: '',
          },
        }),
      },
      expected: { failure: /overloaded|trouble|later/i },
    },
    {
      name: 'answers 400 with the fields of the error at the top',
      source: 'https://github.com/Kilo-Org/kilocode/issues/10375',
      answer: {
        status: 400,
        body: JSON.stringify({
          message:
            "messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported",
          type: 'invalid_request_error',
          param: 'validation_error',
          code: 'wrong_api_format',
        }),
      },
      expected: { failure: /refused|wrong_api_format/i },
    },
  ],
};
