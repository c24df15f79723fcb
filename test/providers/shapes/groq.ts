import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const cassette =
  'https://github.com/pydantic/pydantic-ai/blob/5039551ad6f598c61893f702583300620184b956/tests/models/cassettes/test_groq/test_tool_use_failed_error_streaming.yaml';

const gptOss = {
  id: 'chatcmpl-e35442a8-12c0-4fb4-8be4-0e51727ce7b7',
  object: 'chat.completion.chunk',
  created: 1_771_434_740,
  model: 'openai/gpt-oss-120b',
  system_fingerprint: 'fp_caa2017b29',
};

const llama = {
  id: 'chatcmpl-b610d559-f156-4aca-8827-24b4fe6af54f',
  object: 'chat.completion.chunk',
  created: 1_770_770_843,
  model: 'llama-3.3-70b-versatile',
  system_fingerprint: 'fp_f8b414701e',
};

const gemma = {
  id: 'chatcmpl-e7f8e220-656c-4455-a132-dacfc1370798',
  object: 'chat.completion.chunk',
  model: 'gemma2-9b-it',
};

function groqChunk(
  envelope: object,
  delta: object,
  finishReason: string | null = null,
  more: object = {},
): object {
  return {
    ...envelope,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    ...more,
  };
}

const callUsage = {
  queue_time: 0.041520249,
  prompt_tokens: 210,
  prompt_time: 0.010407901,
  completion_tokens: 15,
  completion_time: 0.046601227,
  total_tokens: 225,
  total_time: 0.057009128,
};

const thoughtUsage = {
  queue_time: 0.00491786,
  prompt_tokens: 304,
  prompt_time: 0.01460151,
  completion_tokens: 49,
  completion_time: 0.11216431,
  total_tokens: 353,
  total_time: 0.12676582,
  completion_tokens_details: { reasoning_tokens: 23 },
};

export const groqShapes: ProviderShapes = {
  provider: 'groq',
  api: 'chat',
  shapes: [
    {
      name: 'reports tool_use_failed in an event named error, after its thoughts and without [DONE]',
      source: cassette,
      answer: {
        body:
          events(
            groqChunk(gptOss, { role: 'assistant', content: '' }, null, {
              x_groq: { id: 'req_01khrvt32ze9rb75za4xqmdz13', seed: 1_367_355_884 },
            }),
            groqChunk(gptOss, { reasoning: "Let's do", channel: 'analysis' }),
            groqChunk(gptOss, { reasoning: ' that.', channel: 'analysis' }),
          ) +
          'event: error\ndata: {"error":{"message":"Tool call validation failed: tool call validation failed: parameters for tool get_something_by_name did not match schema: errors: [missing properties: \'name\', additionalProperties \'invalid_param\' not allowed]","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"{\\"name\\": \\"get_something_by_name\\", \\"arguments\\": {\\n  \\"invalid_param\\": \\"value\\"\\n}}","status_code":400}}\n\n',
      },
      expected: { failure: /tool/i },
      sdk: 'agrees',
    },
    {
      name: 'thinks aloud in reasoning on the channel analysis, then sends a whole tool call',
      source: cassette,
      answer: {
        body: events(
          groqChunk(gptOss, { role: 'assistant', content: '' }, null, {
            x_groq: { id: 'req_01khrvt32ze9rb75za4xqmdz13', seed: 1_367_355_884 },
          }),
          groqChunk(gptOss, { reasoning: 'We need to call', channel: 'analysis' }),
          groqChunk(gptOss, { reasoning: ' the function.', channel: 'analysis' }),
          groqChunk(gptOss, {
            tool_calls: [
              {
                id: 'fc_bfb39741-3748-4def-9886-a93fc9c64a90',
                type: 'function',
                function: { name: 'get_something_by_name', arguments: '{"name":"example"}' },
                index: 0,
              },
            ],
          }),
          groqChunk(gptOss, {}, 'tool_calls', {
            x_groq: { id: 'req_01khrvt32ze9rb75za4xqmdz13', usage: thoughtUsage },
            usage: thoughtUsage,
          }),
          DONE,
        ),
      },
      expected: {
        text: '',
        reasoning: 'We need to call the function.',
        toolCalls: [{ name: 'get_something_by_name', arguments: { name: 'example' } }],
        usage: { inputTokens: 304, outputTokens: 49, reasoningTokens: 23 },
      },
      sdk: 'agrees',
    },
    {
      name: 'says the usage twice, in x_groq and beside it',
      source:
        'https://github.com/vercel/ai/blob/b6893172201a4099ea3b7fc653294afe169f1fdc/packages/groq/src/__fixtures__/groq-tool-call.chunks.txt',
      answer: {
        body: events(
          groqChunk(llama, { role: 'assistant', content: null }, null, {
            x_groq: { id: 'req_01kh52nj5yfcat8hrmvrk2j2hj', seed: 689_520_654 },
          }),
          groqChunk(llama, {
            tool_calls: [
              {
                id: 'tk85n1k4m',
                type: 'function',
                function: { name: 'weather', arguments: '{}' },
                index: 0,
              },
            ],
          }),
          groqChunk(llama, {}, 'tool_calls', {
            x_groq: { id: 'req_01kh52nj5yfcat8hrmvrk2j2hj', usage: callUsage },
            usage: callUsage,
          }),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'weather', arguments: {} }],
        usage: { inputTokens: 210, outputTokens: 15 },
      },
      sdk: 'agrees',
    },
    {
      name: 'says the usage in x_groq alone, in a second chunk with a finish_reason',
      source:
        'https://github.com/vercel/ai/blob/01c23c53f6b011cdbffecc0ed1bcbdda16177b71/packages/groq/src/groq-chat-language-model.test.ts',
      answer: {
        body: events(
          {
            ...gemma,
            created: 1_702_657_020,
            system_fingerprint: null,
            choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
          },
          {
            ...gemma,
            created: 1_702_657_020,
            system_fingerprint: null,
            choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }],
          },
          {
            ...gemma,
            created: 1_702_657_020,
            system_fingerprint: null,
            choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
          },
          groqChunk({ ...gemma, created: 1_729_171_479, system_fingerprint: 'fp_10c08bf97d' }, {}, 'stop', {
            x_groq: {
              id: 'req_01jadadp0femyae9kav1gpkhe8',
              usage: {
                queue_time: 0.061348671,
                prompt_tokens: 18,
                prompt_time: 0.000211569,
                completion_tokens: 439,
                completion_time: 0.798181818,
                total_tokens: 457,
                total_time: 0.798393387,
              },
            },
          }),
          DONE,
        ),
      },
      expected: { text: 'Hello', usage: { inputTokens: 18, outputTokens: 439 } },
      sdk: 'agrees',
    },
    {
      name: 'answers 400 tool_use_failed with what the model wrote in failed_generation',
      source: 'https://github.com/lucagrippa/obsidian-ai-tagger/issues/34',
      answer: {
        status: 400,
        body: JSON.stringify({
          error: {
            message:
              "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
            type: 'invalid_request_error',
            code: 'tool_use_failed',
            failed_generation: '',
          },
        }),
      },
      expected: { failure: /tool/i },
    },
    {
      name: 'answers 413 with a rate limit where one request is more than a minute allows',
      source: 'https://github.com/HunorLaczko/ha-groq-cloud-api/issues/27',
      answer: {
        status: 413,
        body: JSON.stringify({
          error: {
            message:
              'Request too large for model llama-3.1-8b-instant in organization org_xxxxxxx service tier on_demand on tokens per minute (TPM): Limit 6000, Requested 12328, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing',
            type: 'tokens',
            code: 'rate_limit_exceeded',
          },
        }),
      },
      expected: { failure: /more tokens than Groq allows .* a minute/ },
    },
    {
      // The report quotes the message and the status; type and code are those of Groq's other rate limits.
      name: 'answers 429 and says in the message how long to wait',
      source: 'https://github.com/continuedev/continue/issues/10920',
      answer: {
        status: 429,
        body: JSON.stringify({
          error: {
            message:
              'Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_xxxxxxx` service tier `on_demand` on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing',
            type: 'tokens',
            code: 'rate_limit_exceeded',
          },
        }),
      },
      expected: { failure: /rate limit|wait/i },
    },
  ],
};
