import { DONE, events, type ProviderShapes, type WireAnswer } from '../wire-shape.ts';

/** OpenAI's error body, which it sends indented. */
function refused(status: number, error: object): WireAnswer {
  return { status, body: JSON.stringify({ error }, null, 2) };
}

/** How OpenAI and Azure refuse a request over chat completions, or give up while they stream. */
export const openaiChatErrorsShapes: ProviderShapes = {
  provider: 'openai',
  api: 'chat',
  shapes: [
    {
      name: 'knows no such key',
      source: 'https://github.com/chatanywhere/GPT_API_free/issues/62',
      answer: refused(401, {
        message:
          'Incorrect API key provided: sk-VKMIs***************************************wjh3. You can find your API key at https://platform.openai.com/account/api-keys.',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_api_key',
      }),
      expected: { failure: /key/i },
    },
    {
      name: 'knows no such model',
      source: 'https://github.com/timkmecl/chatgpt-vscode/issues/45',
      answer: refused(404, {
        message: 'The model `gpt-4` does not exist or you do not have access to it.',
        type: 'invalid_request_error',
        param: null,
        code: 'model_not_found',
      }),
      expected: { failure: /model/i },
    },
    {
      name: 'wants to be paid, with the status of a rate limit',
      source:
        'https://github.com/vercel/ai/blob/main/packages/openai/src/responses/__fixtures__/openai-error.1.json',
      answer: refused(429, {
        message:
          'You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.',
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      }),
      expected: { failure: /quota|credit|billing/i },
    },
    {
      name: 'asks to wait until its limit of tokens per minute allows more',
      source: 'https://github.com/rotemweiss57/gpt-newspaper/issues/10',
      answer: refused(429, {
        message:
          'Rate limit reached for gpt-4 in organization org-********** on tokens per min (TPM): Limit 10000, Used 9348, Requested 5086. Please try again in 26.604s. Visit https://platform.openai.com/account/rate-limits to learn more.',
        type: 'tokens',
        param: null,
        code: 'rate_limit_exceeded',
      }),
      expected: { failure: /rate limit|wait/i },
    },
    {
      name: 'calls a request too large for the tokens per minute, which no waiting helps',
      source: 'https://github.com/DrShushen/climb/issues/13',
      answer: refused(429, {
        message:
          'Request too large for gpt-4o in organization org-VDAWofJASuLH0vVz8o9tiQZr on tokens per min (TPM): Limit 30000, Requested 30601. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.',
        type: 'tokens',
        param: null,
        code: 'rate_limit_exceeded',
      }),
      expected: { failure: /more tokens than OpenAI allows .* a minute/ },
    },
    {
      name: 'counts a conversation that is too long',
      source: 'https://github.com/bytedance/deer-flow/issues/310',
      answer: refused(400, {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 202868 tokens (202767 in the messages, 101 in the functions). Please reduce the length of the messages or functions.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      }),
      expected: { failure: /too long|context/i },
    },
    {
      name: 'cannot read an image',
      source: 'https://github.com/STranslate/STranslate/issues/277',
      answer: refused(400, {
        message:
          "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_image_format',
      }),
      expected: { failure: /image/i },
    },
    {
      name: 'is asked to look at an image by a model that cannot see',
      source: 'https://github.com/vllm-project/vllm/issues/11629',
      answer: refused(400, {
        message: 'Invalid content type. image_url is only supported by certain models.',
        type: 'invalid_request_error',
        param: 'messages.[0].content.[1].type',
        code: null,
      }),
      expected: { failure: /image/i },
    },
    {
      name: 'lets nobody set the temperature of a reasoning model',
      source: 'https://github.com/chatboxai/chatbox/issues/2564',
      answer: refused(400, {
        message:
          "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.",
        type: 'invalid_request_error',
        param: 'temperature',
        code: 'unsupported_value',
      }),
      expected: { failure: /temperature/i },
    },
    {
      name: 'wants max_completion_tokens where max_tokens was sent',
      source:
        'https://github.com/vercel/ai/blob/main/packages/openai/src/chat/__fixtures__/reasoning-model-legacy-parameter-error.json',
      answer: refused(400, {
        message:
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        type: 'invalid_request_error',
        param: 'max_tokens',
        code: 'unsupported_parameter',
      }),
      expected: { failure: /max.?_?(completion_)?tokens/i },
    },
    {
      name: 'refuses tools beside a reasoning effort and names the Responses API',
      source: 'https://github.com/GEMISIS/leviath/issues/333',
      answer: refused(400, {
        message:
          "Function tools with reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
        type: 'invalid_request_error',
        param: 'reasoning_effort',
        code: null,
      }),
      expected: { failure: /reasoning|responses/i },
    },
    {
      name: 'streams to verified organizations only',
      source: 'https://github.com/BeehiveInnovations/pal-mcp-server/issues/134',
      answer: refused(400, {
        message:
          'Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization. If you just verified, it can take up to 15 minutes for access to propagate.',
        type: 'invalid_request_error',
        param: 'stream',
        code: 'unsupported_value',
      }),
      expected: { failure: /verif/i },
    },
    {
      name: 'serves no such country, with an error whose fields are sorted by name',
      source: 'https://github.com/home-assistant/core/issues/120072',
      answer: refused(403, {
        code: 'unsupported_country_region_territory',
        message: 'Country, region, or territory not supported',
        param: null,
        type: 'request_forbidden',
      }),
      expected: { failure: /country|region/i },
    },
    {
      name: 'is overloaded',
      source: 'https://github.com/waylaidwanderer/node-chatgpt-api/issues/34',
      answer: refused(503, {
        message:
          'That model is currently overloaded with other requests. You can retry your request, or contact us through our help center at help.openai.com if the error persists. (Please include the request ID 169bee8d  in your message.)',
        type: 'server_error',
        param: null,
        code: null,
      }),
      expected: { failure: /overloaded|trouble|later/i },
    },
    {
      name: 'filters the prompt at Azure, with a type of null and the status in the body',
      source: 'https://github.com/openai/openai-python/issues/331',
      answer: {
        status: 400,
        body: JSON.stringify({
          error: {
            message:
              'The response was filtered due to the prompt triggering Azure OpenAI’s content management policy. Please modify your prompt and retry. To learn more about our content filtering policies please read our documentation: https://go.microsoft.com/fwlink/?linkid=2198766',
            type: null,
            param: 'prompt',
            code: 'content_filter',
            status: 400,
          },
        }),
      },
      expected: { failure: /filter|safety|refus/i },
    },
    {
      name: 'opens a stream with an error and ends it properly',
      source:
        'https://github.com/vercel/ai/blob/main/packages/openai/src/chat/openai-chat-language-model.test.ts',
      answer: {
        body: events(
          {
            error: {
              message:
                'The server had an error processing your request. Sorry about that! You can retry your request, or contact us through our help center at help.openai.com if you keep seeing this error.',
              type: 'server_error',
              param: null,
              code: null,
            },
          },
          DONE,
        ),
      },
      expected: { failure: /overloaded|trouble|later/i },
      sdk: 'agrees',
    },
    {
      name: 'opens a stream with data that is no JSON',
      source:
        'https://github.com/vercel/ai/blob/main/packages/openai/src/chat/openai-chat-language-model.test.ts',
      answer: { body: events('{unparsable}', DONE) },
      expected: { failure: /understood|JSON|complete|ended|read|no answer/i },
      sdk: 'agrees',
    },
  ],
};
