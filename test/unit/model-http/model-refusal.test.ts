import { describe, expect, it } from 'vitest';
import { LlmConfig } from '../../../src/config/schema/llm-config.ts';
import { type RefusalContext, refusal } from '../../../src/model-http/failures/refusal.ts';
import { providerEndpoint } from '../../../src/model-http/provider/provider-endpoint.ts';

const KEY = 'sk-secret-5d41402abc';
const accessWith = (apiKey: string) =>
  providerEndpoint(
    LlmConfig.parse({
      provider: 'openai-compatible',
      model: 'm',
      apiKey,
      baseURL: 'http://127.0.0.1:1/v1',
    }),
    {},
  );
const access = accessWith(KEY);
const tools = ['look', 'write'].map((name) => ({ name, description: '', inputSchema: {} }));

function told(error: unknown, context: Partial<RefusalContext> = {}) {
  return refusal(access, { error }, { tools, status: 400, ...context });
}

describe('what a provider refuses', () => {
  it.each([
    ['by its place', { message: "Invalid schema for function: 'tools[1].function.parameters'" }],
    ['by its place in the field', { message: 'Invalid', param: 'tools[1].function.parameters' }],
    ['by its path', { message: 'tools.1.custom.input_schema: JSON schema is invalid' }],
    ['by its name', { message: "Invalid schema for function 'write': None is not of type 'array'." }],
    [
      'by its place at Google',
      {
        message:
          '* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[rows].items: missing field.',
      },
    ],
    [
      'beside words about images',
      {
        message:
          "Invalid schema for function 'write': In context=('properties', 'image'), array schema missing items.",
        param: 'tools[1].function.parameters',
        code: 'invalid_function_parameters',
      },
    ],
  ])('is told as the tool that it names %s, and the conversation stays', (_how, error) => {
    const { details } = told({ ...error, type: 'invalid_request_error' });
    expect(details).toMatchObject({
      toolName: 'write',
      reason: expect.stringMatching(/the tool write; deny it/),
    });
    expect(details).not.toHaveProperty('refused');
  });

  it('is no refusal where a stream was cut on its way to a gateway, which may be tried again', () => {
    const message =
      'litellm.BadRequestError: stream disconnected before completion: stream closed before response.completed';
    for (const error of [
      { message, code: '400' },
      { message: 'no', code: 'request_timeout' },
    ]) {
      const failure = told({ ...error, type: 'invalid_request_error' });
      expect(failure.isPassing).toBe(true);
      expect(failure.details).not.toHaveProperty('refused');
    }
  });

  it.each([
    ['temperature', 'llm.temperature'],
    ['reasoning_effort', 'llm.reasoningEffort'],
    ['max_completion_tokens', 'llm.maxTokens'],
  ])('is told as the setting of the field %s, and the conversation stays', (param, setting) => {
    const { details } = told({ message: 'no', param, code: 'unsupported_value' });
    expect(details).toMatchObject({ param, reason: expect.stringContaining(setting) });
    expect(details.reason).toContain(`(400, unsupported_value, field ${param})`);
    expect(details).not.toHaveProperty('refused');
  });

  it.each([
    ['stop', 'llm.stop', 'Argument not supported on this model: stop'],
    ['stop', 'llm.stop', 'Model grok-4.6 does not support parameter stop.'],
    ['reasoning_effort', 'llm.reasoningEffort', 'Model grok-4.6 does not support parameter reasoningEffort.'],
    ['temperature', 'llm.temperature', 'invalid temperature: only 1 is allowed for this model'],
    ['reasoning_effort', 'llm.reasoningEffort', '"gemma3" does not support thinking'],
    [
      'temperature',
      'llm.temperature',
      '* GenerateContentRequest.generation_config.temperature: Temperature must be in the range [0.0, 2.0].',
    ],
    [
      'max_tokens',
      'llm.maxTokens',
      'Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 to 65537.',
    ],
    ['stop', 'llm.stop', 'Unable to submit request because it has more than 5 stop sequences.'],
    ['stop', 'llm.stop', 'The model returned the following errors: stopSequences is not supported'],
    [
      'max_tokens',
      'llm.maxTokens',
      'The model returned the following errors: max_tokens: 5000 > 4096, which is the maximum allowed number of output tokens',
    ],
  ])('is told as the setting %s, which only a sentence names: %s, %s', (param, setting, message) => {
    const { details } = told({ message });
    expect(details).toMatchObject({ param, reason: expect.stringContaining(setting) });
    expect(details).not.toHaveProperty('refused');
  });

  it('is the limit of tokens under another name, which another provider of the agent file sends', () => {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    const { details } = told({ message, param: 'max_tokens', code: 'unsupported_parameter' });
    expect(details).toMatchObject({
      param: 'max_tokens',
      reason: expect.stringMatching(/set llm\.provider to openai.*keep llm\.baseURL/),
    });
    const long =
      "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens.";
    expect(told({ message: long, param: 'max_tokens' }).details.reason).toMatch(/conversation is too long/);
  });

  it.each([
    ['stop', { message: "Unsupported parameter: 'stop' is not supported with this model.", param: 'stop' }],
    [
      'object',
      {
        message: "Invalid type: expected a string, but got an 'object' instead.",
        param: 'messages[1].content',
      },
    ],
  ])('is not the tool %s where the error names another field', (name, error) => {
    const { details } = told(error, { tools: [{ name, description: '', inputSchema: {} }] });
    expect(details).toMatchObject({ param: error.param });
    expect(details).not.toHaveProperty('toolName');
  });

  it.each([
    'messages.1.content.0: Invalid `signature` in `thinking` block',
    'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final assistant message must start with a thinking block.',
    'messages.5.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
    'litellm.BadRequestError: AnthropicException - {"message":"messages.1.content.0: Invalid `signature` in `thinking` block"}',
  ])('is the conversation where Anthropic names a message, and no setting: %s', (message) => {
    expect(told({ type: 'invalid_request_error', message }).details).toMatchObject({
      param: 'messages',
      refused: 'request',
    });
  });

  it.each([
    [404, 'The model grok-2-vision-1212 does not exist or your team does not have access to it.', undefined],
    [400, 'The model `llama-3.2-90b-vision-preview` has been decommissioned.', 'model_decommissioned'],
  ])('is the model, also one with vision in its name: %s, %s', (status, message, code) => {
    const { details } = told({ message, code }, { status });
    expect(details).toMatchObject({ reason: expect.stringContaining('has no model m') });
    expect(details).not.toHaveProperty('refused');
  });

  it('is the setting, also of a model with vision in its name', () => {
    const { details } = told({ message: 'Model grok-2-vision-1212 does not support parameter stop.' });
    expect(details).toMatchObject({ param: 'stop' });
    expect(details).not.toHaveProperty('refused');
  });

  it('is an image where the model has no vision', () => {
    const { details } = told({ message: 'This model has no vision support.' });
    expect(details).toMatchObject({ refused: 'image' });
  });

  it('is the access where the provider does not serve the country', () => {
    const { details } = told({
      message: 'User location is not supported for the API use.',
      status: 'FAILED_PRECONDITION',
    });
    expect(details).toMatchObject({ reason: expect.stringContaining('not served in this country') });
    expect(details).not.toHaveProperty('refused');
  });

  it('is told with its field where the key is a placeholder that occurs in it', () => {
    const body = { error: { message: 'no', param: 'max_tokens', code: 'unsupported_value' } };
    const { details } = refusal(accessWith('x'), body, { tools, status: 400 });
    expect(details).toMatchObject({ param: 'max_tokens', code: 'unsupported_value' });
    const unknown = refusal(accessWith('x'), { error: { code: 'model_not_found' } }, { tools, status: 404 });
    expect(unknown.details.reason).toContain('http://127.0.0.1:1/v1/chat/completions');
    expect(refusal(accessWith('1'), {}, { tools, status: 404 }).details.reason).toContain('127.0.0.1:1');
  });

  it('is the conversation when the error names a message, or nothing', () => {
    expect(told({ message: 'no', param: 'messages.[3].content' }).details).toMatchObject({
      refused: 'request',
    });
    expect(told({ message: 'no' }).details).toMatchObject({ refused: 'request' });
  });

  it.each([
    [{ message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' }, /API key/],
    [{ message: 'Incorrect API key provided: sk-***. You can obtain an API key.' }, /API key/],
  ])('is the key, whatever its status: %j', (error, reason) => {
    const { details } = told(error);
    expect(details.reason).toMatch(reason);
    expect(details).not.toHaveProperty('refused');
  });

  it.each([
    ['llama.cpp', { code: 400, message: 'x', type: 'exceed_context_size_error' }],
    ['vLLM', { message: "This model's maximum context length is 4096 tokens. However, you requested 5000." }],
    ['OpenAI', { message: 'x', code: 'context_length_exceeded', param: 'messages' }],
    [
      'Anthropic',
      { type: 'invalid_request_error', message: 'prompt is too long: 208310 tokens > 200000 maximum' },
    ],
    [
      'Google',
      { message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).' },
    ],
    ['Bedrock', { message: 'Input is too long for requested model.', type: 'ValidationException' }],
    [
      'Bedrock behind LiteLLM',
      {
        message:
          'litellm.BadRequestError: BedrockException - {"message":"The model returned the following errors: Input is too long for requested model."}',
      },
    ],
    ['Z.AI', { code: '1261', message: 'Prompt exceeds max length' }],
    ['Z.AI about tokens', { code: '1210', message: 'tokens in request more than max tokens allowed' }],
    [
      'DashScope',
      {
        code: 'invalid_parameter_error',
        message: '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]',
      },
    ],
    ['GitHub Models', { code: 'tokens_limit_reached', message: 'Request body too large for m model.' }],
    ['some gateways', { message: 'Token limit exceeded' }],
    ['other gateways', { message: 'Payload too large' }],
  ])('is the length of the conversation in the words of %s', (_who, error) => {
    expect(told(error).details).toMatchObject({
      refused: 'context',
      reason: expect.stringMatching(/too long.*reset the conversation/),
    });
  });

  it('is what is too large for the server, whatever it is, with the status that says so', () => {
    const { details } = told({ message: 'Payload Too Large' }, { status: 413 });
    expect(details).toMatchObject({ refused: 'request', reason: expect.stringContaining('too large') });
  });

  it('is asked for again after the wait that the provider wants, and told when that is long', () => {
    const short = told({ message: 'slow down' }, { status: 429, retryAfterMs: 2_000 });
    expect(short).toMatchObject({ isPassing: true, retryAfterMs: 2_000 });
    const long = told({ message: 'slow down' }, { status: 429, retryAfterMs: 3_600_000 });
    expect(long.details).toMatchObject({
      retryAfter: 3_600,
      reason: expect.stringContaining('3600 seconds'),
    });
  });

  it.each([
    [
      429,
      'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 30601. The input or output tokens must be reduced in order to run successfully.',
    ],
    [
      413,
      'Request too large for model `m` in organization `org_1` on tokens per minute (TPM): Limit 6000, Requested 12328, please reduce your message size and try again.',
    ],
  ])(
    'is the conversation, which must become shorter, where it has more tokens than a minute allows: %s',
    (status, message) => {
      const { details, isPassing } = told({ message, code: 'rate_limit_exceeded' }, { status });
      expect(details).toMatchObject({
        refused: 'context',
        reason: expect.stringContaining('history.maxTokens'),
      });
      expect(isPassing).toBe(false);
    },
  );

  it('is asked for again where other requests of the minute are to blame', () => {
    const message =
      'Rate limit reached for gpt-4 on tokens per min (TPM): Limit 10000, Used 9348, Requested 5086. Please try again in 26.604s.';
    const { details, isPassing } = told({ message, code: 'rate_limit_exceeded' }, { status: 429 });
    expect(isPassing).toBe(true);
    expect(details).not.toHaveProperty('refused');
  });

  it('is asked for again where the model wrote a call that the provider could not read: no tool is to blame', () => {
    const error = {
      message:
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
      code: 'tool_use_failed',
      failed_generation: '{"name": "write", "arguments": {"temperature"',
    };
    const { details, isPassing } = told(error);
    expect(isPassing).toBe(true);
    expect(details).toMatchObject({ reason: expect.stringContaining('could not read') });
    for (const field of ['refused', 'toolName', 'param']) expect(details).not.toHaveProperty(field);
  });

  it('is not asked for again where the money is used up', () => {
    const { isPassing } = told({ message: 'x', code: 'insufficient_quota' }, { status: 429 });
    expect(isPassing).toBe(false);
  });

  it('is told without the words of the provider, which may quote the key or the prompt', () => {
    const error = {
      message: `key ${KEY} sent my-prompt`,
      code: `bad ${KEY}`,
      param: KEY,
      type: 'my-prompt is bad',
    };
    const failure = told(error);
    expect(JSON.stringify(failure.body)).not.toContain(KEY);
    expect(JSON.stringify(failure.body)).not.toContain('my-prompt');
  });

  it.each([
    ['a list of one', [{ error: { code: 'model_not_found', message: 'x' } }]],
    ['a sentence', 'The model `m` does not exist'],
    ['an object without an error', { detail: 'model m not found' }],
    ['FastAPI’s list', { detail: [{ loc: ['body', 'model'], msg: 'model not found' }] }],
    ['an error in an error', { error: { error: { code: 'model_not_found' } } }],
  ])('is read from %s', (_shape, body) => {
    const { details } = refusal(access, body, { tools, status: 400 });
    expect(details.reason).toMatch(/has no model m/);
  });
});
