import { chunk, DONE, events, type ProviderShapes } from '../wire-shape.ts';

const WORKERS_AI_TESTS =
  'https://github.com/cloudflare/ai/blob/main/packages/workers-ai-provider/test/stream-text.test.ts';

/** A chunk of Workers AI: its choice has no index, and the chunk has no id. */
function workersPiece(delta: object, finishReason: string | null = null): object {
  return { choices: [{ delta, finish_reason: finishReason }] };
}

/** A piece of a call as LiteLLM passes it on from Oracle: each with an id of its own, for the chunk and for the call. */
function oraclePiece(count: number, name: string, argumentsPiece: string): object {
  const call = {
    index: 0,
    id: `call_${count}`,
    type: 'function',
    function: { name, arguments: argumentsPiece },
  };
  return chunk({ role: 'assistant', content: null, tool_calls: [call] }, null, { id: `chatcmpl-${count}` });
}

/** The chunk in which Bedrock, behind a proxy, opens a call: its arguments are those of a call without any. */
const emptyOpening = chunk({
  role: 'assistant',
  tool_calls: [
    { index: 0, id: 'tooluse_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } },
  ],
});

const opening = chunk({ role: 'assistant', content: 'Hi' });
const ending = chunk({}, 'stop');

export const openaiCompatibleProxiesShapes: ProviderShapes = {
  provider: 'openai-compatible',
  api: 'chat',
  shapes: [
    {
      name: 'LiteLLM tells in the middle of the stream that the provider behind it failed',
      source: 'https://github.com/BerriAI/litellm/issues/5175',
      answer: {
        body: events(opening, {
          error: {
            message: 'litellm.APIConnectionError: Extra data: line 1 column 8 (char 7)',
            type: null,
            param: null,
            code: '500',
          },
        }),
      },
      expected: { failure: /trouble|later|overloaded|litellm/i, text: 'Hi' },
      sdk: 'agrees',
    },
    {
      name: 'LiteLLM wraps the refusal of a conversation that is too long',
      source: 'https://github.com/BrokkAi/brokk-app/issues/540',
      answer: {
        status: 400,
        body: JSON.stringify({
          error: {
            message:
              'litellm.BadRequestError: AnthropicException - b\'{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 179413 + 32768 > 200000, decrease input length or `max_tokens` and try again"}}\'. Received Model Group=anthropic/claude-sonnet-4-20250514\nAvailable Model Group Fallbacks=None',
            type: null,
            param: null,
            code: '400',
          },
        }),
      },
      expected: { failure: /too long|context/i },
    },
    {
      name: 'LiteLLM does not know the key',
      source: 'https://github.com/BerriAI/litellm/issues/4880',
      answer: {
        status: 401,
        body: JSON.stringify({
          error: {
            message: 'Authentication Error, No connected db.',
            type: 'auth_error',
            param: 'None',
            code: 401,
          },
        }),
      },
      expected: { failure: /key/i },
    },
    {
      name: 'LiteLLM tells with a 429 that the budget of the user is spent',
      source: 'https://github.com/OWASP/OpenCRE/pull/1102',
      answer: {
        status: 429,
        body: JSON.stringify({
          error: {
            message: 'LiteLLM User: engineer-1, exceeded budget for model=claude-opus-4-8',
            type: 'budget_exceeded',
            param: null,
            code: '429',
          },
        }),
      },
      expected: { failure: /quota|credit|billing|budget/i },
    },
    {
      name: 'LiteLLM tells with a 400 that the budget is spent',
      source: 'https://github.com/eigent-ai/eigent/issues/769',
      answer: {
        status: 400,
        body: JSON.stringify({
          error: {
            message:
              'Budget has been exceeded! Current cost: 9.767697499999997, Max budget: 9.751000000000001',
            type: 'budget_exceeded',
            param: null,
            code: '400',
          },
        }),
      },
      expected: { failure: /quota|credit|billing|budget/i },
    },
    {
      name: 'LiteLLM swallows the error of the provider behind it and ends properly',
      source: 'https://github.com/BerriAI/litellm/issues/40578',
      answer: { body: events(chunk({ role: 'assistant', content: '' }), ending, DONE) },
      expected: { failure: /empty|nothing/i },
      sdk: { differs: 'it returns a message without content' },
    },
    {
      name: 'LiteLLM gives each piece of one call another id and ends it by stop',
      source: 'https://github.com/BerriAI/litellm/pull/40040',
      answer: {
        body: events(
          oraclePiece(1, 'get_weather', ''),
          oraclePiece(2, '', '{"city":'),
          oraclePiece(3, '', '"Paris"}'),
          chunk({}, 'stop', { id: 'chatcmpl-4' }),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'get_weather', arguments: { city: 'Paris' } }] },
      sdk: 'agrees',
    },
    {
      name: 'Bedrock Access Gateway numbers the first call -1',
      source: 'https://github.com/aws-samples/bedrock-access-gateway/pull/247',
      answer: {
        body: events(
          chunk({
            tool_calls: [
              {
                index: -1,
                id: 'tooluse_...',
                type: 'function',
                function: { name: 'get_weather', arguments: '' },
              },
            ],
          }),
          chunk({ tool_calls: [{ index: -1, function: { arguments: '{"city":"Paris"}' } }] }),
          chunk({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'get_weather', arguments: { city: 'Paris' } }] },
      sdk: { differs: 'it keeps the call under the key -1, outside of the list' },
    },
    {
      name: 'Bedrock Access Gateway numbers the first call 1 where text stands before it',
      source: 'https://github.com/aws-samples/bedrock-access-gateway/issues/134',
      answer: {
        body: events(
          chunk({ role: 'assistant', content: 'I look it up.' }),
          chunk({
            tool_calls: [
              {
                index: 1,
                id: 'tooluse_...',
                type: 'function',
                function: { name: 'get_weather', arguments: '' },
              },
            ],
          }),
          chunk({ tool_calls: [{ index: 1, function: { arguments: '{"city":"Paris"}' } }] }),
          chunk({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: {
        text: 'I look it up.',
        toolCalls: [{ name: 'get_weather', arguments: { city: 'Paris' } }],
      },
      sdk: { differs: 'it leaves a hole in the list of calls' },
    },
    {
      name: 'a proxy of Bedrock opens a call with {} and sends its arguments in pieces',
      source: 'https://github.com/openai/openai-agents-js/issues/712',
      answer: {
        body: events(
          emptyOpening,
          chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }),
          chunk({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] },
      sdk: { differs: 'it puts the pieces behind the first {}' },
    },
    {
      name: 'LiteLLM opens a call with {} and sends it again with its arguments',
      source: 'https://github.com/BerriAI/litellm/issues/4537',
      answer: {
        body: events(
          emptyOpening,
          chunk({
            tool_calls: [
              {
                index: 0,
                id: 'tooluse_1',
                type: 'function',
                function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
              },
            ],
          }),
          chunk({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] },
      sdk: { differs: 'it puts the arguments behind the first {}' },
    },
    {
      name: 'a proxy of Bedrock opens a call with {} and that is all of its arguments',
      source: 'https://github.com/openai/openai-agents-js/issues/712',
      answer: { body: events(emptyOpening, chunk({}, 'tool_calls'), DONE) },
      expected: { text: '', toolCalls: [{ name: 'get_weather', arguments: {} }] },
      sdk: 'agrees',
    },
    {
      name: 'Workers AI sends chunks without ids and choices without indexes',
      source: WORKERS_AI_TESTS,
      answer: {
        body: events(
          workersPiece({
            tool_calls: [
              {
                id: 'chatcmpl-tool-abc',
                type: 'function',
                index: 0,
                function: { name: 'get_weather', arguments: '{"location": "London"}' },
              },
            ],
          }),
          workersPiece({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'get_weather', arguments: { location: 'London' } }] },
      sdk: 'agrees',
    },
    {
      name: 'Workers AI ends with a line that is [DONE] and nothing else',
      source: WORKERS_AI_TESTS,
      answer: {
        body: `${events(
          chunk({ role: 'assistant', reasoning: 'Okay, ' }),
          chunk({ reasoning: 'easy.' }),
          chunk({ content: 'A joke' }, 'stop'),
          chunk(null, null, {
            choices: [],
            usage: { prompt_tokens: 5, completion_tokens: 10, total_tokens: 15 },
          }),
        )}[DONE]`,
      },
      expected: {
        text: 'A joke',
        reasoning: 'Okay, easy.',
        usage: { inputTokens: 5, outputTokens: 10 },
      },
      sdk: 'agrees',
    },
    {
      name: 'Workers AI does not accept the token',
      source: 'https://github.com/anomalyco/opencode/issues/32051',
      answer: {
        status: 401,
        body: '{"result":null,"success":false,"errors":[{"code":10000,"message":"Authentication error"}],"messages":[]}',
      },
      expected: { failure: /key/i },
    },
    {
      name: 'Workers AI knows no such address',
      source: 'https://github.com/anomalyco/opencode/issues/18552',
      answer: {
        status: 404,
        body: JSON.stringify({
          result: null,
          success: false,
          errors: [
            {
              code: 7003,
              message:
                'Could not route to /client/v4/accounts/…/ai/v1/chat/completions, perhaps your object identifier is invalid?',
            },
          ],
          messages: [],
        }),
      },
      expected: { failure: /route|address|not found|model/i },
    },
    {
      name: 'Azure API Management does not accept the subscription key',
      source: 'https://github.com/felixrieseberg/project-oxford/issues/24',
      answer: {
        status: 401,
        body: '{ "statusCode": 401, "message": "Access denied due to invalid subscription key. Make sure to provide a valid key for an active subscription." }',
      },
      expected: { failure: /key/i },
    },
    {
      name: 'one-api has no channel for the model',
      source: 'https://github.com/songquanpeng/one-api/issues/2308',
      answer: {
        status: 503,
        body: JSON.stringify({
          error: {
            message:
              '当前分组 default 下对于模型 gpt-5 无可用渠道 (request id: 2025082215093026624875464905761)',
            type: 'one_api_error',
          },
        }),
      },
      expected: { failure: /model/i },
    },
    {
      name: 'Portkey answers with status 200 and what remained of an HTML page',
      source: 'https://github.com/Portkey-AI/gateway/issues/267',
      answer: {
        headers: { 'content-type': 'application/json' },
        body: '{"html-message":"Network connection lost."}',
      },
      expected: { failure: /network connection lost|trouble|later|complete|nothing|no reply/i },
      sdk: 'agrees',
    },
    {
      name: 'llmgateway gives each event an id and sends comments that say ping',
      source: 'https://github.com/theopenco/llmgateway/pull/2334',
      answer: {
        body: `id: 0\ndata: ${JSON.stringify(opening)}\n\n: ping\n\nid: 1\ndata: ${JSON.stringify(ending)}\n\nid: 2\ndata: [DONE]\n\n`,
      },
      expected: { text: 'Hi' },
      sdk: 'agrees',
    },
    {
      name: 'Manifest passes a comment of OpenRouter on as data',
      source: 'https://github.com/mnfst/llm-gateway/issues/2053',
      answer: { body: `data: : OPENROUTER PROCESSING\n\n${events(opening, ending, DONE)}` },
      expected: { text: 'Hi' },
      sdk: { differs: 'it fails on data that is no JSON' },
    },
    {
      name: 'sub2api lets the pings of Anthropic through',
      source: 'https://github.com/Wei-Shaw/sub2api/pull/7097',
      answer: {
        body: `${events(opening)}event: ping\ndata: {"type":"ping"}\n\n${events(ending, DONE)}`,
      },
      expected: { text: 'Hi' },
      sdk: { differs: 'it takes the ping for a chunk' },
    },
    {
      name: '9router answers with one JSON object and [DONE] behind it',
      source: 'https://github.com/decolua/9router/issues/3492',
      answer: {
        headers: { 'content-type': 'text/event-stream' },
        body: `${JSON.stringify({
          id: 'chatcmpl-123',
          object: 'chat.completion',
          created: 1760000000,
          model: 'model',
          choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
        })}\n\ndata: [DONE]\n\n`,
      },
      expected: { text: 'Hi', usage: { inputTokens: 5, outputTokens: 1 } },
      sdk: { differs: 'it looks for events and finds none' },
    },
    {
      name: 'a gateway hangs the error on the choice, beside the finish reason error',
      source: 'https://github.com/genkit-ai/genkit/pull/6259',
      answer: {
        body: events(
          chunk({ role: 'assistant', content: 'Partial ' }),
          chunk(null, null, {
            choices: [
              {
                index: 0,
                delta: {},
                finish_reason: 'error',
                error: { message: 'upstream timed out', code: 504 },
              },
            ],
          }),
          DONE,
        ),
      },
      expected: { failure: /upstream timed out|trouble|later/i, text: 'Partial ' },
      sdk: { differs: 'it returns the text before the error' },
    },
    {
      name: 'orchard tells an error in the stream and sends no [DONE]',
      source: 'https://github.com/kapitan-ai/orchard/pull/422',
      answer: {
        body: events(opening, {
          error: { code: 'internal_error', message: 'Internal error', type: 'server_error', param: null },
        }),
      },
      expected: { failure: /trouble|later|internal error/i, text: 'Hi' },
      sdk: 'agrees',
    },
  ],
};
