import type { ProviderShapes } from '../wire-shape.ts';

const streamingDocs = 'https://openrouter.ai/docs/api/reference/streaming';
const errorDocs = 'https://openrouter.ai/docs/api/reference/errors-and-debugging';

export const openRouterErrorShapes: ProviderShapes = {
  provider: 'openrouter',
  api: 'chat',
  shapes: [
    {
      name: 'answers 200 with an error as JSON where the provider behind it failed',
      source: errorDocs,
      answer: {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          error: {
            code: 429,
            message: 'Rate limit exceeded',
            metadata: { error_type: 'rate_limit_exceeded', provider_code: 'rate_limited' },
          },
        }),
      },
      expected: { failure: /rate limit|wait/i },
      sdk: 'agrees',
    },
    {
      name: 'answers 429 and says in Retry-After how long to wait',
      source: errorDocs,
      answer: {
        status: 429,
        headers: { 'content-type': 'application/json', 'retry-after': '60' },
        body: JSON.stringify({
          error: {
            code: 429,
            message: 'Rate limit exceeded',
            metadata: { error_type: 'rate_limit_exceeded', provider_code: 'rate_limited' },
          },
        }),
      },
      expected: { failure: /rate limit|wait/i },
    },
    {
      name: 'answers 402 where the credits do not pay for max_tokens',
      source: 'https://github.com/babikov/doka-site/issues/7',
      answer: {
        status: 402,
        body: JSON.stringify({
          error: {
            message:
              'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 10114. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account',
            code: 402,
            metadata: { provider_name: null },
          },
          user_id: 'user_',
        }),
      },
      expected: { failure: /quota|credit|billing/i },
    },
    {
      name: 'answers 404 where no provider has the model',
      source:
        'https://github.com/pydantic/pydantic-ai/blob/07b877493d0a132b6037f1a7471e15def6faec44/tests/models/cassettes/test_openrouter/test_openrouter_errors_raised.yaml',
      answer: {
        status: 404,
        body: JSON.stringify({
          error: { message: 'No endpoints found for google/gemini-2.5-flash:free.', code: 404 },
          user_id: 'user_2u7zrLB02neVzhe7P3Am4Jhz4cW',
        }),
      },
      expected: { failure: /model/i },
    },
    {
      name: 'answers 400 for a model that it does not know',
      source: streamingDocs,
      answer: {
        status: 400,
        body: JSON.stringify({ error: { code: 400, message: 'Invalid model specified' } }),
      },
      expected: { failure: /model/i },
    },
    {
      name: 'answers 403 where a guardrail blocks the message',
      source: errorDocs,
      answer: {
        status: 403,
        body: JSON.stringify({
          error: {
            code: 403,
            message: 'Request blocked: prompt injection patterns detected',
            metadata: { patterns: ['ignore all previous instructions'] },
          },
        }),
      },
      expected: { failure: /filter|safety|refus|block/i },
    },
    {
      name: "hands on another provider's error as text in metadata.raw",
      source:
        'https://github.com/pydantic/pydantic-ai/blob/217a4f0938954c2e58be9ca0f8eac421f5d88dd0/tests/models/cassettes/test_openrouter/test_openrouter_thinking_false_on_always_on_route.yaml',
      answer: {
        status: 400,
        body: JSON.stringify({
          error: {
            message: 'Provider returned error',
            code: 400,
            metadata: {
              raw: '{\n  "error": {\n    "message": "Unsupported value: \'none\' is not supported with the \'o3-2025-04-16\' model. Supported values are: \'low\', \'medium\', and \'high\'.",\n    "type": "invalid_request_error",\n    "param": "reasoning.effort",\n    "code": "unsupported_value"\n  }\n}',
              provider_name: 'OpenAI',
              is_byok: false,
            },
          },
          user_id: 'user_3DfsYqCbMj02iPyZE8iAToOBgKo',
        }),
      },
      expected: { failure: /refused|unsupported/i },
    },
  ],
};
