import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const finishReasons =
  'https://github.com/vercel/ai/blob/0ff0cf9e4f9e9c647f2d4b5507e698beab500ad6/packages/mistral/src/map-mistral-finish-reason.ts';

/** `more` stands beside the choices, as the usage and the padding `p` do. */
function mistralChunk(delta: object, finishReason: string | null = null, more: object = {}) {
  return {
    id: 'b5810ef13dbb4811a20d34e1393d8431',
    object: 'chat.completion.chunk',
    created: 1_787_865_810,
    model: 'mistral-small-latest',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    ...more,
  };
}

function thinking(text: string, more: object = {}) {
  return { type: 'thinking', thinking: [{ type: 'text', text }], ...more };
}

function refused(status: number, body: object) {
  return { status, body: JSON.stringify(body) };
}

const opening = mistralChunk({ role: 'assistant', content: '' });

export const mistralShapes: ProviderShapes = {
  provider: 'mistral',
  api: 'chat',
  shapes: [
    {
      name: 'sends the content as a list of parts, thoughts first and then the text',
      source:
        'https://github.com/vercel/ai/blob/195ce949e2ee5a7de8922e65b854600962529b58/packages/mistral/src/__fixtures__/mistral-reasoning.chunks.txt',
      answer: {
        body: events(
          mistralChunk({ role: 'assistant', content: [thinking('The user is asking')] }),
          mistralChunk({ content: [thinking(' for 2+2.')] }),
          mistralChunk({ content: [{ type: 'text', text: '2 + 2 = 4' }] }),
          mistralChunk({ content: '' }, 'stop', {
            usage: { prompt_tokens: 10, total_tokens: 56, completion_tokens: 46 },
          }),
          DONE,
        ),
      },
      expected: {
        text: '2 + 2 = 4',
        reasoning: 'The user is asking for 2+2.',
        usage: { inputTokens: 10, outputTokens: 46 },
      },
      sdk: { differs: 'It adds the parts to the text as [object Object].' },
    },
    {
      name: 'ends the thoughts and begins the text in one chunk, and goes on with plain strings',
      source:
        'https://github.com/vercel/ai/blob/4f627d0f7eb5e3f0643a270fe9fa8b969e6f059c/packages/openai-compatible/src/chat/__fixtures__/issue-13703-mistral-thinking.chunks.txt',
      answer: {
        body: events(
          opening,
          mistralChunk({ content: '' }, null, { p: 'abcdefghijklmnopqrstu' }),
          mistralChunk({ content: [thinking('Okay, the', { closed: true })] }, null, { p: 'abcd' }),
          mistralChunk({ content: [thinking(' multiplication')] }, null, { p: 'abcdef' }),
          mistralChunk(
            { content: [thinking(' is 391.', { closed: true }), { type: 'text', text: '3' }] },
            null,
            { p: 'abcd' },
          ),
          mistralChunk({ content: '91' }, 'stop', {
            usage: {
              prompt_tokens: 28,
              total_tokens: 167,
              completion_tokens: 139,
              prompt_tokens_details: { cached_tokens: 0 },
            },
            p: 'abcdefghijklmnopqrstuvwxyz0123456',
          }),
          DONE,
        ),
      },
      expected: {
        text: '391',
        reasoning: 'Okay, the multiplication is 391.',
        usage: { inputTokens: 28, outputTokens: 139, cachedTokens: 0 },
      },
      sdk: { differs: 'It adds the parts to the text as [object Object].' },
    },
    {
      name: 'sends a whole tool call with the finish_reason, without index and type',
      source:
        'https://github.com/vercel/ai/blob/c22d50fb4f2fcd3036b6f32c652a5ff4e1d61000/packages/mistral/src/__fixtures__/mistral-tool-call.chunks.txt',
      answer: {
        body: events(
          opening,
          mistralChunk(
            {
              content: null,
              tool_calls: [
                {
                  id: 'gSIMJiOkT',
                  function: { name: 'weather', arguments: '{"location": "San Francisco"}' },
                },
              ],
            },
            'tool_calls',
            { usage: { prompt_tokens: 124, total_tokens: 146, completion_tokens: 22 } },
          ),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'weather', arguments: { location: 'San Francisco' } }],
        usage: { inputTokens: 124, outputTokens: 22 },
      },
      sdk: { differs: 'It wants an index for every tool call.' },
    },
    {
      name: 'sends the arguments with an empty name, and an index inside the delta',
      source:
        'https://github.com/vercel/ai/blob/702aba717bc52024ba911b2071fe4b11a5f08795/packages/mistral/src/__fixtures__/mistral-incremental-tool-call.chunks.txt',
      answer: {
        body: events(
          mistralChunk({
            tool_calls: [
              {
                id: 'chatcmpl-tool-9f149c74c42f265b',
                type: 'function',
                function: { name: 'webSearchTool', arguments: '' },
                index: 0,
              },
            ],
            index: 0,
            content: '',
          }),
          mistralChunk({
            tool_calls: [
              {
                type: 'function',
                function: { name: '', arguments: '{"query": "current Berlin weather"}' },
                index: 0,
              },
            ],
            index: 0,
            content: '',
          }),
          mistralChunk({ index: 0, content: '' }, 'tool_calls', {
            usage: {
              prompt_tokens: 171,
              total_tokens: 185,
              completion_tokens: 14,
              prompt_tokens_details: { cached_tokens: 128 },
            },
          }),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'webSearchTool', arguments: { query: 'current Berlin weather' } }],
        usage: { inputTokens: 171, outputTokens: 14, cachedTokens: 128 },
      },
      sdk: 'agrees',
    },
    {
      name: 'pads its chunks with a field p',
      source:
        'https://github.com/vercel/ai/blob/1d59af4caf524f7758965ebd7584a2db49b64752/packages/mistral/src/__fixtures__/mistral-usage-raw-live.chunks.txt',
      answer: {
        body: events(
          opening,
          mistralChunk({ content: 'OK' }, null, { p: 'abcdefghijklmnopqrstuvwxyz0123456789' }),
          mistralChunk({ content: '' }, 'stop', {
            usage: {
              prompt_tokens: 19,
              total_tokens: 21,
              completion_tokens: 2,
              prompt_tokens_details: { cached_tokens: 0 },
              service_tier: 'standard',
            },
            p: 'abcdef',
          }),
          DONE,
        ),
      },
      expected: { text: 'OK', usage: { inputTokens: 19, outputTokens: 2, cachedTokens: 0 } },
      sdk: 'agrees',
    },
    {
      name: 'sends a chunk without choices in the middle of the reply',
      source:
        'https://github.com/vercel/ai/blob/6133050f6671093634edee022938b8967dfed1ca/packages/mistral/src/__fixtures__/mistral-empty-choices.chunks.txt',
      answer: {
        body: events(
          opening,
          { ...mistralChunk({}), choices: [], usage: null },
          mistralChunk({ content: 'Hello!' }),
          mistralChunk({ content: '' }, 'stop', {
            usage: { prompt_tokens: 5, total_tokens: 8, completion_tokens: 3 },
          }),
          DONE,
        ),
      },
      expected: { text: 'Hello!', usage: { inputTokens: 5, outputTokens: 3 } },
      sdk: 'agrees',
    },
    {
      name: 'says model_length where the model has no room left',
      source: finishReasons,
      answer: {
        body: events(
          opening,
          mistralChunk({ content: 'The first of many' }),
          mistralChunk({ content: '' }, 'model_length'),
          DONE,
        ),
      },
      expected: { text: 'The first of many', finishReason: 'length' },
      sdk: 'agrees',
    },
    {
      name: 'ends with finish_reason error',
      source:
        'https://github.com/vercel/ai/blob/cd4a2e367a0193a7f5978154928ab5937b86d79c/packages/mistral/src/map-mistral-finish-reason.test.ts',
      answer: {
        body: events(
          opening,
          mistralChunk({ content: 'The first' }),
          mistralChunk({ content: '' }, 'error'),
          DONE,
        ),
      },
      expected: { failure: /error|again|later|trouble/i, text: 'The first' },
      sdk: { differs: 'It takes every finish_reason for an end.' },
    },
    {
      name: 'answers 401 with a detail in place of an error, for a wrong key and for a used-up plan',
      source: 'https://github.com/diegosouzapw/OmniRoute/issues/7638',
      answer: refused(401, { detail: 'Unauthorized' }),
      expected: { failure: /key/i },
    },
    {
      name: 'answers 401 with a message and a request_id',
      source: 'https://github.com/coolcline/CoolCline/issues/36',
      answer: refused(401, { message: 'Unauthorized', request_id: '933f233947ff6d346065bb297e4a4d56' }),
      expected: { failure: /key/i },
    },
    {
      name: 'answers 429 with a flat error of type rate_limited',
      source: 'https://github.com/raycast/extensions/issues/31107',
      answer: refused(429, {
        object: 'error',
        message: 'Rate limit exceeded',
        type: 'rate_limited',
        param: null,
        code: '1300',
        raw_status_code: 429,
      }),
      expected: { failure: /rate limit|wait/i },
    },
    {
      name: 'answers 422 with a list in place of a message',
      source: 'https://github.com/partITech/php-mistral/issues/76',
      answer: refused(422, {
        object: 'Error',
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['body', 'tools'],
            msg: 'Extra inputs are not permitted',
            input: [],
          },
        ],
        message: [
          {
            type: 'extra_forbidden',
            loc: ['body', 'tools'],
            msg: 'Extra inputs are not permitted',
            input: [],
          },
        ],
        type: 'invalid_request_error',
        code: 3001,
      }),
      expected: { failure: /refused|not permitted/i },
    },
  ],
};
