import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const MLX_SERVER = 'https://github.com/ml-explore/mlx-lm/blob/main/mlx_lm/server.py';

/** A chunk as SGLang writes it: with null for whatever it has nothing to say about. */
function sglangPiece(delta: object, finishReason: string | null = null): object {
  return {
    id: 'fea45bfa7bbd4209b1e71bdcdcc6c667',
    object: 'chat.completion.chunk',
    created: 1756216933,
    model: 'acbc',
    choices: [
      {
        index: 0,
        delta: { role: null, content: null, reasoning_content: null, tool_calls: null, ...delta },
        logprobs: null,
        finish_reason: finishReason,
        matched_stop: null,
      },
    ],
    usage: null,
  };
}

function sglangCall(id: string, name: string | null, argumentsPiece: string): object {
  return sglangPiece({
    tool_calls: [{ id, index: 0, type: 'function', function: { name, arguments: argumentsPiece } }],
  });
}

/** A chunk as the server of MLX writes it: each delta has all its fields. */
function mlxPiece(delta: object, finishReason: string | null = null): object {
  return {
    id: 'chatcmpl-6fae3479-4a30-40fc-95d3-2197bc360123',
    system_fingerprint: '0.31.3-0.31.0-macOS-15.5-arm64-arm-64bit-applegpu_g16s',
    object: 'chat.completion.chunk',
    model: 'default_model',
    created: 1788688081,
    choices: [
      {
        index: 0,
        finish_reason: finishReason,
        delta: { role: 'assistant', content: '', reasoning: '', tool_calls: [], ...delta },
      },
    ],
  };
}

/** A chunk as LocalAI writes it: with a usage of zeros, and without a finish reason. */
function localAiPiece(delta: object, more: object = {}): object {
  return {
    created: 1708097828,
    object: 'chat.completion.chunk',
    id: '5cc56821-fbe8-43a4-873f-cd8d4dc07093',
    model: 'gpt',
    choices: [{ index: 0, ...more, delta }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };
}

/** A chunk of any server, with nothing special about it. */
function plainPiece(delta: object, finishReason: string | null = null): object {
  return {
    id: 'chatcmpl-d172f8df734c9f98c9daa48a',
    object: 'chat.completion.chunk',
    created: 1771537592,
    model: 'test-model',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  };
}

const plainReply = events(
  plainPiece({ role: 'assistant', content: 'Hi' }),
  plainPiece({ content: ' there' }),
  plainPiece({}, 'stop'),
  DONE,
);

export const openaiCompatibleServersShapes: ProviderShapes = {
  provider: 'openai-compatible',
  api: 'chat',
  shapes: [
    {
      name: 'SGLang fills each field with null and tells which stop it matched',
      source: 'https://github.com/sgl-project/sglang/pull/9657',
      answer: {
        body: events(
          sglangPiece({ role: 'assistant', content: '' }),
          sglangPiece({ reasoning_content: '2' }),
          sglangPiece({ reasoning_content: '=' }),
          sglangPiece({ content: '4' }),
          sglangPiece({}, 'stop'),
          DONE,
        ),
      },
      expected: { text: '4', reasoning: '2=' },
      sdk: 'agrees',
    },
    {
      name: 'SGLang sends null for the id and the name in the later pieces of a call',
      source: 'https://github.com/sgl-project/sglang/pull/35542',
      answer: {
        body: events(
          sglangPiece({
            tool_calls: [
              {
                id: 'call_abc',
                index: 0,
                type: 'function',
                function: { name: 'get_weather', arguments: '' },
              },
            ],
          }),
          sglangPiece({
            tool_calls: [
              { id: null, index: 0, type: 'function', function: { name: null, arguments: '{"city":' } },
            ],
          }),
          sglangPiece({
            tool_calls: [
              { id: null, index: 0, type: 'function', function: { name: null, arguments: '"Paris"}' } },
            ],
          }),
          sglangPiece({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: { text: '', toolCalls: [{ name: 'get_weather', arguments: { city: 'Paris' } }] },
      sdk: 'agrees',
    },
    {
      name: 'SGLang tells calls apart by their ids 0 and 1, both with the index 0',
      source: 'https://github.com/InternLM/lmdeploy/issues/3412',
      answer: {
        body: events(
          sglangCall('0', 'func_name', ''),
          sglangCall('0', null, '{"n":1}'),
          sglangCall('1', 'func_name', ''),
          sglangCall('1', null, '{"n":2}'),
          sglangPiece({}, 'tool_calls'),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [
          { name: 'func_name', arguments: { n: 1 } },
          { name: 'func_name', arguments: { n: 2 } },
        ],
      },
      sdk: { differs: 'it joins the arguments of both calls in the first one' },
    },
    {
      name: 'SGLang refuses an input that is too long, with a body that is the error itself',
      source: 'https://github.com/QwenLM/Qwen3/issues/1321',
      answer: {
        status: 400,
        body: JSON.stringify({
          object: 'error',
          message: "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
          type: 'BadRequestError',
          param: null,
          code: 400,
        }),
      },
      expected: { failure: /too long|context/i },
    },
    {
      name: 'the server of MLX sends comments with its progress and all fields in each delta',
      source: MLX_SERVER,
      answer: {
        body: [
          ': keepalive 2048/4096\n\n',
          ': keepalive 4096/4096\n\n',
          events(
            mlxPiece({ reasoning: 'Easy' }),
            mlxPiece({ content: '4' }),
            mlxPiece({}, 'stop'),
            {
              id: 'chatcmpl-6fae3479-4a30-40fc-95d3-2197bc360123',
              system_fingerprint: '0.31.3-0.31.0-macOS-15.5-arm64-arm-64bit-applegpu_g16s',
              object: 'chat.completion',
              model: 'default_model',
              created: 1788688081,
              choices: [],
              usage: {
                prompt_tokens: 4096,
                completion_tokens: 3,
                total_tokens: 4099,
                prompt_tokens_details: { cached_tokens: 0 },
              },
            },
            DONE,
          ),
        ],
      },
      expected: {
        text: '4',
        reasoning: 'Easy',
        usage: { inputTokens: 4096, outputTokens: 3, cachedTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'the server of MLX sends whole calls, the last one together with the end',
      source: MLX_SERVER,
      answer: {
        body: events(
          mlxPiece({
            tool_calls: [
              {
                function: { name: 'calculator', arguments: '{"expression": "1+1"}' },
                type: 'function',
                id: '3f9ee602-450b-43f2-8f92-09af52b88817',
                index: 0,
              },
            ],
          }),
          mlxPiece(
            {
              tool_calls: [
                {
                  function: { name: 'calculator', arguments: '{"expression": "2+2"}' },
                  type: 'function',
                  id: '8e55af51-0b8d-49f5-ab45-5f5769c0df59',
                  index: 1,
                },
              ],
            },
            'tool_calls',
          ),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [
          { name: 'calculator', arguments: { expression: '1+1' } },
          { name: 'calculator', arguments: { expression: '2+2' } },
        ],
      },
      sdk: 'agrees',
    },
    {
      name: 'the server of MLX refuses with a bare string',
      source: MLX_SERVER,
      answer: {
        status: 503,
        body: '{"error": "[METAL] Command buffer execution failed: Insufficient Memory"}',
      },
      expected: { failure: /overloaded|trouble|later|insufficient memory/i },
    },
    {
      name: 'LocalAI leaves the finish reason out until the end and counts no tokens',
      source: 'https://github.com/mudler/LocalAI/issues/1744',
      answer: {
        body: events(
          localAiPiece({ role: 'assistant', content: '' }),
          localAiPiece({ content: '\n' }),
          localAiPiece({ content: 'H' }),
          localAiPiece({ content: 'i' }),
          localAiPiece({ content: '' }, { finish_reason: 'stop' }),
          DONE,
        ),
      },
      expected: { text: '\nHi', usage: { inputTokens: 0, outputTokens: 0 } },
      sdk: 'agrees',
    },
    {
      name: 'LocalAI gives a call the id of the chunk and an empty finish reason',
      source: 'https://github.com/sigoden/aichat/issues/580',
      answer: {
        body: events(
          localAiPiece(
            {
              role: 'assistant',
              content: null,
              tool_calls: [
                {
                  index: 0,
                  id: 'f5f63d03-9bd7-42ba-9e25-bfc35ed44f47',
                  type: 'function',
                  function: { name: 'get_current_weather', arguments: '' },
                },
              ],
            },
            { finish_reason: '' },
          ),
          localAiPiece(
            {
              role: 'assistant',
              content: '',
              tool_calls: [
                {
                  index: 0,
                  id: 'f5f63d03-9bd7-42ba-9e25-bfc35ed44f47',
                  type: 'function',
                  function: { arguments: '{"location":"Boston"}' },
                },
              ],
            },
            { finish_reason: '' },
          ),
          localAiPiece({ content: '' }, { finish_reason: 'tool_calls' }),
          DONE,
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'get_current_weather', arguments: { location: 'Boston' } }],
        usage: { inputTokens: 0, outputTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'KoboldCpp tells a failed generation by the finish reason error',
      source: 'https://github.com/LostRuins/koboldcpp/issues/2481',
      answer: { body: events(plainPiece({ role: 'assistant', content: '' }), plainPiece({}, 'error'), DONE) },
      expected: { failure: /error/i },
      sdk: { differs: 'it returns a message without content' },
    },
    {
      name: 'exo tells its progress in events with a name of their own',
      source: 'https://github.com/exo-explore/exo/pull/1181',
      answer: {
        body: `event: prefill_progress\ndata: ${JSON.stringify({ processed_tokens: 512, total_tokens: 2048 })}\n\nevent: prefill_progress\ndata: ${JSON.stringify({ processed_tokens: 2048, total_tokens: 2048 })}\n\n${plainReply}`,
      },
      expected: { text: 'Hi there' },
      sdk: { differs: 'it takes the progress for a chunk' },
    },
    {
      name: 'oMLX sends a chunk of another reply to keep the connection',
      source: 'https://github.com/jundot/omlx/issues/1478',
      answer: {
        body: `data: {"id":"chatcmpl-keepalive","object":"chat.completion.chunk","created":0,"model":"keepalive","choices":[{"index":0,"delta":{"content":""},"finish_reason":null}]}\n\n${plainReply}`,
      },
      expected: { text: 'Hi there' },
      sdk: 'agrees',
    },
    {
      name: 'DwarfStar sends comments while it holds a call back',
      source: 'https://github.com/antirez/ds4/pull/1006',
      answer: { body: [': prefill\n\n', ': generating\n\n', plainReply] },
      expected: { text: 'Hi there' },
      sdk: 'agrees',
    },
    {
      name: 'DwarfStar refuses a prompt that is too long',
      source: 'https://github.com/antirez/ds4/pull/150',
      answer: {
        status: 400,
        body: JSON.stringify({
          error: {
            message: 'Prompt tokens (40000) exceeds context size (32768)',
            type: 'context_exceeded',
            n_prompt_tokens: 40000,
            n_ctx: 32768,
          },
        }),
      },
      expected: { failure: /too long|context/i },
    },
    {
      name: 'ExLlama tells in the stream that a job needs more pages than there are',
      source: 'https://github.com/MiaAI-Lab/Qwen3.8-27B-DFlash2-EXL3-5.0bpw/pull/9',
      answer: {
        body: events({
          error: {
            message: 'context/cache: Job requires 1027 pages (only 1024 available) and cannot be enqueued.',
          },
        }),
      },
      expected: { failure: /too long|context/i },
      sdk: 'agrees',
    },
    {
      name: 'VMware Private AI calls its chunks chat.completion and counts them in the index',
      source:
        'https://developer.broadcom.com/xapis/vmware-private-ai-service-api/latest/data-structures/StreamResponsePayload',
      answer: {
        body: events(
          ...[' How', ' are'].map((content, index) => ({
            choices: [{ delta: { content, role: 'assistant' }, finish_reason: null, index }],
            created: 1700173217,
            id: '3cdb958c-e4cc-4834-b52b-1d1a7f324714',
            model: 'llama-2-70b-chat-hf',
            object: 'chat.completion',
          })),
          {
            choices: [{ delta: { content: ' you?', role: 'assistant' }, finish_reason: 'stop', index: 2 }],
            created: 1700173217,
            id: '3cdb958c-e4cc-4834-b52b-1d1a7f324714',
            model: 'llama-2-70b-chat-hf',
            object: 'chat.completion',
          },
          DONE,
        ),
      },
      expected: { text: ' How are you?' },
      sdk: 'agrees',
    },
  ],
};
