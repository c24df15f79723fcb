import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const OPENAI_PYTHON = 'https://github.com/openai/openai-python/blob/main';
const RECORDING = `${OPENAI_PYTHON}/.inline-snapshot/external`;
const OPENAI_NODE = 'https://github.com/openai/openai-node/blob/master';
const PYDANTIC_AI = 'https://github.com/pydantic/pydantic-ai/blob/main/tests/models/cassettes/test_openai';
const AI_SDK = 'https://github.com/vercel/ai/blob/main/packages/openai/src/chat';

/** A chunk of gpt-4o in 2024: without usage, padding and tier. */
function gpt4o(id: string, fingerprint: string, delta: object, finishReason: string | null = null): object {
  return {
    id,
    object: 'chat.completion.chunk',
    created: 1727346172,
    model: 'gpt-4o-2024-08-06',
    system_fingerprint: fingerprint,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
  };
}

function gpt4oUsage(id: string, fingerprint: string, prompt: number, completion: number): object {
  return {
    id,
    object: 'chat.completion.chunk',
    created: 1727346172,
    model: 'gpt-4o-2024-08-06',
    system_fingerprint: fingerprint,
    choices: [],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  };
}

/** A chunk of gpt-5 in 2026. */
function gpt5(choices: readonly object[], obfuscation: string, more: object = {}): object {
  return {
    id: 'chatcmpl-E4Rjs6IxaJVge9Ntk5keJsaeDy6vS',
    object: 'chat.completion.chunk',
    created: 1784728648,
    model: 'gpt-5-2025-08-07',
    service_tier: 'default',
    system_fingerprint: null,
    choices,
    ...more,
    ...('usage' in more ? {} : { usage: null }),
    obfuscation,
  };
}

const GPT5_USAGE = {
  usage: {
    prompt_tokens: 13,
    completion_tokens: 11,
    total_tokens: 24,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  },
};

const GPT5_PARIS = [
  gpt5(
    [{ index: 0, delta: { role: 'assistant', content: '', refusal: null }, finish_reason: null }],
    'CVQ55DocFW',
  ),
  gpt5([{ index: 0, delta: { content: 'Paris' }, finish_reason: null }], 'EeXxvZr'),
  gpt5([{ index: 0, delta: { content: '.' }, finish_reason: null }], 'vsPllEDPEHe'),
  gpt5([{ index: 0, delta: {}, finish_reason: 'stop' }], '0eqq81'),
  gpt5([], 'uLVWXYc88DP', GPT5_USAGE),
];

const SAFE = {
  hate: { filtered: false, severity: 'safe' },
  self_harm: { filtered: false, severity: 'safe' },
  sexual: { filtered: false, severity: 'safe' },
  violence: { filtered: false, severity: 'safe' },
};

/** A chunk of Azure, which sorts its fields by name. */
function azure(choice: object | undefined, obfuscation: string, usage: object | null = null): object {
  return {
    choices: choice === undefined ? [] : [choice],
    created: 1762317021,
    id: 'chatcmpl-CYPS1lijGoK8gd9lYzY3r9Sx50nbt',
    model: 'gpt-5-nano-2025-08-07',
    obfuscation,
    object: 'chat.completion.chunk',
    system_fingerprint: null,
    usage,
  };
}

function azureChoice(delta: object, results: object = SAFE, finishReason: string | null = null): object {
  return { content_filter_results: results, delta, finish_reason: finishReason, index: 0, logprobs: null };
}

const REFUSAL = ['chatcmpl-ABfw4IfQfCCrcuybFm41wJyxjbkz7', 'fp_5050236cbd'] as const;
const CUT = ['chatcmpl-ABfw3Oqj8RD0z6aJiiX37oTjV2HFh', 'fp_7568d46099'] as const;

/** A chunk in the SDK's own test of the content filter. */
function filtered(delta: object, finishReason: string | null = null): object {
  return {
    id: 'chatcmpl-example',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'gpt-4o-2024-08-06',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  };
}

/** What OpenAI and Azure say over chat completions: texts, refusals, endings and usage. */
export const openaiChatShapes: ProviderShapes = {
  provider: 'openai',
  api: 'chat',
  shapes: [
    {
      name: 'pads each chunk, names its tier and sends usage in a last chunk without choices',
      source: `${PYDANTIC_AI}/test_openai_moderation_stream.yaml`,
      answer: { body: events(...GPT5_PARIS, DONE) },
      expected: {
        text: 'Paris.',
        usage: { inputTokens: 13, outputTokens: 11, cachedTokens: 0, reasoningTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'sends its moderation after the usage, in a chunk whose usage is null again',
      source: `${PYDANTIC_AI}/test_openai_moderation_stream.yaml`,
      answer: {
        body: events(
          ...GPT5_PARIS,
          gpt5([], 'Lml3uvUFL', {
            moderation: {
              input: { type: 'moderation_results', model: 'omni-moderation-latest', results: [] },
              output: { type: 'moderation_results', model: 'omni-moderation-latest', results: [] },
            },
          }),
          DONE,
        ),
      },
      expected: {
        text: 'Paris.',
        usage: { inputTokens: 13, outputTokens: 11, cachedTokens: 0, reasoningTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'refuses in deltas of their own, with content null',
      source: `${RECORDING}/173417d553406f034f643e5db3f8d591fb691ebac56f5ae39a22cc7d455c5353.bin`,
      answer: {
        body: events(
          gpt4o(...REFUSAL, { role: 'assistant', content: null, refusal: '' }),
          gpt4o(...REFUSAL, { refusal: "I'm" }),
          gpt4o(...REFUSAL, { refusal: ' sorry' }),
          gpt4o(...REFUSAL, { refusal: '.' }),
          gpt4o(...REFUSAL, {}, 'stop'),
          gpt4oUsage(...REFUSAL, 79, 11),
          DONE,
        ),
      },
      expected: {
        text: "I'm sorry.",
        usage: { inputTokens: 79, outputTokens: 11, reasoningTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'ends with length after some text',
      source: `${RECORDING}/4cc50a6135d254573a502310e6af1246f55edb6ad95fa24059f160996b68866d.bin`,
      answer: {
        body: events(
          gpt4o(...CUT, { role: 'assistant', content: '', refusal: null }),
          gpt4o(...CUT, { content: '{"' }),
          gpt4o(...CUT, {}, 'length'),
          gpt4oUsage(...CUT, 79, 1),
          DONE,
        ),
      },
      expected: {
        text: '{"',
        finishReason: 'length',
        usage: { inputTokens: 79, outputTokens: 1, reasoningTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'spends its whole budget on thinking and says nothing',
      source: 'https://github.com/covan-ai/covan/pull/112',
      answer: {
        body: events(
          gpt5(
            [{ index: 0, delta: { role: 'assistant', content: '', refusal: null }, finish_reason: null }],
            'CVQ55DocFW',
          ),
          gpt5([{ index: 0, delta: {}, finish_reason: 'length' }], '0eqq81'),
          DONE,
        ),
      },
      expected: { failure: /limit|length|token|empty|nothing/i },
      sdk: { differs: 'It ends normally, with a reply that says nothing.' },
    },
    {
      name: 'opens at Azure with prompt_filter_results, empty names and no choices',
      source: `${AI_SDK}/__fixtures__/azure-model-router.1.chunks.txt`,
      answer: {
        body: events(
          {
            choices: [],
            created: 0,
            id: '',
            model: '',
            object: '',
            prompt_filter_results: [
              {
                prompt_index: 0,
                content_filter_results: {
                  hate: { filtered: false, severity: 'safe' },
                  jailbreak: { filtered: false, detected: false },
                  self_harm: { filtered: false, severity: 'safe' },
                  sexual: { filtered: false, severity: 'safe' },
                  violence: { filtered: false, severity: 'safe' },
                },
              },
            ],
          },
          azure(azureChoice({ content: '', refusal: null, role: 'assistant' }, {}), 'D3WbtIxo1Q2j1Q'),
          azure(azureChoice({ content: 'Capital' }), 'NNpA6Dj2U'),
          azure(azureChoice({ content: ' of' }), 'etvV32yk5dbxb'),
          azure(azureChoice({ content: ' Denmark' }), 'iDOuV7Jz'),
          azure(azureChoice({ content: '.' }), 'ywLH2r1kcaeOOkq'),
          azure(azureChoice({}, {}, 'stop'), 'Zarov0xJhP'),
          azure(undefined, 'DjqQ9RbEQMJ3PX', {
            completion_tokens: 78,
            completion_tokens_details: {
              accepted_prediction_tokens: 0,
              audio_tokens: 0,
              reasoning_tokens: 64,
              rejected_prediction_tokens: 0,
            },
            prompt_tokens: 15,
            prompt_tokens_details: { audio_tokens: 0, cached_tokens: 0 },
            total_tokens: 93,
          }),
          DONE,
        ),
      },
      expected: {
        text: 'Capital of Denmark.',
        usage: { inputTokens: 15, outputTokens: 78, cachedTokens: 0, reasoningTokens: 64 },
      },
      sdk: 'agrees',
    },
    {
      name: 'closes at Azure with a choice that has no delta and no finish reason',
      source: `${OPENAI_NODE}/tests/lib/ChatCompletionStream.test.ts`,
      answer: {
        body: events(
          {
            id: 'chatcmpl-test',
            object: 'chat.completion.chunk',
            created: 1,
            model: 'gpt-test',
            choices: [
              {
                index: 0,
                delta: { role: 'assistant', content: 'hello' },
                finish_reason: null,
                logprobs: null,
              },
            ],
          },
          {
            id: 'chatcmpl-test',
            object: 'chat.completion.chunk',
            created: 1,
            model: 'gpt-test',
            choices: [{ index: 0, delta: {}, finish_reason: 'stop', logprobs: null }],
          },
          {
            id: '',
            object: '',
            created: 0,
            model: '',
            choices: [{ index: 0, finish_reason: null, content_filter_results: {} }],
          },
          DONE,
        ),
      },
      expected: { text: 'hello' },
      sdk: { differs: 'It throws on a choice without a delta.' },
    },
    {
      name: 'stops a text it has begun with content_filter',
      source: `${OPENAI_PYTHON}/tests/lib/chat/test_content_filter.py`,
      answer: {
        body: events(
          filtered({ role: 'assistant', content: '{"value": "example' }),
          filtered({ role: 'assistant' }, 'content_filter'),
          DONE,
        ),
      },
      expected: { failure: /filter|safety|refus/i, text: '{"value": "example' },
      sdk: 'agrees',
    },
    {
      name: 'ends with content_filter before the first word',
      source: `${OPENAI_PYTHON}/tests/lib/chat/test_content_filter.py`,
      answer: { body: events(filtered({ role: 'assistant' }, 'content_filter'), DONE) },
      expected: { failure: /filter|safety|refus/i },
      sdk: 'agrees',
    },
    {
      name: 'ends before any finish reason',
      source: `${OPENAI_NODE}/tests/lib/ChatCompletionStream.test.ts`,
      answer: {
        body: events({
          id: 'chatcmpl-test',
          object: 'chat.completion.chunk',
          created: 1,
          model: 'gpt-test',
          choices: [
            { index: 0, delta: { role: 'assistant', content: 'hello' }, finish_reason: null, logprobs: null },
          ],
        }),
      },
      expected: { failure: /complete|ended|closed/i, text: 'hello' },
      sdk: 'agrees',
    },
    {
      name: 'answers with one chat.completion instead of a stream',
      source: `${PYDANTIC_AI}/test_openai_moderation_block_policy.yaml`,
      answer: {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          choices: [
            {
              finish_reason: 'stop',
              index: 0,
              message: {
                annotations: [],
                content: "I'm here to listen.",
                refusal: null,
                role: 'assistant',
              },
            },
          ],
          created: 1784742821,
          id: 'chatcmpl-E4VQTxoRiawe7TqBMs6LvN2i0GRZR',
          model: 'gpt-5-2025-08-07',
          object: 'chat.completion',
          service_tier: 'default',
          system_fingerprint: null,
          usage: {
            completion_tokens: 1880,
            completion_tokens_details: {
              accepted_prediction_tokens: 0,
              audio_tokens: 0,
              reasoning_tokens: 1536,
              rejected_prediction_tokens: 0,
            },
            prompt_tokens: 12,
            prompt_tokens_details: { audio_tokens: 0, cached_tokens: 0 },
            total_tokens: 1892,
          },
        }),
      },
      expected: {
        text: "I'm here to listen.",
        usage: { inputTokens: 12, outputTokens: 1880, cachedTokens: 0, reasoningTokens: 1536 },
      },
      sdk: { differs: 'it finds no event in a body that is no stream' },
    },
  ],
};
