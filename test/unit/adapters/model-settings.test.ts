import { describe, expect, it } from 'vitest';
import { chatRequest } from '../../../src/adapters/openai/chat/chat-request.ts';
import { parseAgentFile } from '../../../src/config/reading/agent-file.ts';
import { LlmConfig, modelApiOf } from '../../../src/config/schema/llm-config.ts';
import { providerEndpoint } from '../../../src/model-http/provider/provider-endpoint.ts';
import type { ModelRequest } from '../../../src/ports/language-model.ts';

const tools = [{ name: 'look', description: '', inputSchema: { type: 'object', properties: {} } }];
const request: ModelRequest = { systemPrompt: '', messages: [{ role: 'user', text: 'hi' }], tools };

function body(llm: object, given: ModelRequest = request): object {
  const config = LlmConfig.parse({ provider: 'openai', model: 'm', apiKey: 'k', api: 'chat', ...llm });
  return chatRequest(providerEndpoint(config, {}), config, given);
}

function problemsOf(llm: object): string {
  const yaml = JSON.stringify({ llm: { provider: 'openai', model: 'm', ...llm } });
  try {
    parseAgentFile(yaml, 'agent.yml', {});
    return '';
  } catch (error) {
    return String(error);
  }
}

describe('a setting of the model', () => {
  it.each([
    ['openai', { max_completion_tokens: 9 }],
    ['cerebras', { max_completion_tokens: 9 }],
    ['mistral', { max_tokens: 9 }],
    ['deepseek', { max_tokens: 9 }],
  ])('maxTokens is sent to %s as the field that it takes', (provider, expected) => {
    const sent = body({ provider, maxTokens: 9 });
    expect(sent).toMatchObject(expected);
    expect(Object.keys(sent).filter((key) => key.startsWith('max_'))).toHaveLength(1);
  });

  it.each([
    ['openai', { reasoning_effort: 'none' }],
    ['openrouter', { reasoning: { effort: 'none' } }],
  ])('reasoningEffort is sent to %s where it looks for it', (provider, expected) => {
    expect(body({ provider, reasoningEffort: 'none' })).toMatchObject(expected);
  });

  it('seed has another name at Mistral', () => {
    expect(body({ provider: 'mistral', seed: 4 })).toMatchObject({ random_seed: 4 });
    expect(body({ provider: 'mistral', seed: 4 })).not.toHaveProperty('seed');
  });

  it('topP, stop, seed and temperature are sent as they are', () => {
    const sent = body({ topP: 0.5, stop: ['END'], seed: 7, temperature: 0 });
    expect(sent).toMatchObject({ top_p: 0.5, stop: ['END'], seed: 7, temperature: 0 });
  });

  it('parallelToolCalls is sent only where there are tools, because it is refused without', () => {
    expect(body({ parallelToolCalls: false })).toMatchObject({ parallel_tool_calls: false });
    expect(body({ parallelToolCalls: false }, { ...request, tools: [] })).not.toHaveProperty(
      'parallel_tool_calls',
    );
  });

  it('extraBody is merged last: into objects one level deep, in place of anything else, and null takes away', () => {
    const sent = body({
      temperature: 1,
      extraBody: { temperature: null, model: 'other', stream_options: { more: true }, top_k: 4 },
    });
    expect(sent).toMatchObject({ model: 'other', top_k: 4 });
    expect(sent).toMatchObject({ stream_options: { include_usage: true, more: true } });
    expect(sent).not.toHaveProperty('temperature');
  });

  it('that is not set is not sent', () => {
    expect(Object.keys(body({})).toSorted()).toEqual([
      'messages',
      'model',
      'stream',
      'stream_options',
      'tools',
    ]);
  });

  it.each([
    ['reasoningEffort', 'turbo', /expected one of none, minimal, low/],
    ['maxTokens', 0, /at least 1/],
    ['topP', 3, /at most 1/],
    ['stop', [], /at least 1 item\b/],
    ['stop', 'END', /expected a list/],
    ['seed', 'one', /expected a number/],
    ['parallelToolCalls', 1, /true or false/],
    ['extraBody', [1], /expected a map/],
    ['keepReasoning', 'yes', /true or false/],
    ['maxRetries', 11, /at most 10/],
    ['firstByteTimeoutMs', 0, /at least 1/],
    ['api', 'grpc', /expected one of chat, responses, messages/],
  ])('%s: %j is told by its name and what is expected', (key, value, expected) => {
    const problems = problemsOf({ [key]: value });
    expect(problems).toContain(`agent.yml:1: llm.${key}: `);
    expect(problems).toMatch(expected);
  });

  it.each([
    ['stop', ['END'], 'responses'],
    ['seed', 4, 'responses'],
    ['seed', 4, 'messages'],
  ])('%s: %j is refused where the API has no such field (%s)', (key, value, api) => {
    expect(problemsOf({ [key]: value, api })).toContain(`llm.${key}: `);
    expect(problemsOf({ [key]: value, api })).toContain(`llm.api: ${api}`);
    expect(problemsOf({ [key]: value, api: 'chat' })).toBe('');
  });
});

describe('a schema', () => {
  it.each([
    ['openrouter', 'deepseek/deepseek-v4-flash', true],
    ['openai', 'deepseek-chat', true],
    ['openrouter', 'openai/gpt-5.6', undefined],
  ])(
    'at %s for %s: whether its bounds are described, which DeepSeek refuses',
    (provider, model, expected) => {
      const config = LlmConfig.parse({ provider, model, apiKey: 'k' });
      expect(providerEndpoint(config, {}).rules.describesBounds).toBe(expected);
    },
  );
});

describe('a tool call that another model has made', () => {
  const call = { type: 'toolCall', callId: 'c1', name: 'look', arguments: {} } as const;
  const given: ModelRequest = {
    ...request,
    messages: [
      { role: 'user', text: 'hi' },
      { role: 'assistant', parts: [call] },
      { role: 'tool', callId: 'c1', name: 'look', text: 'seen' },
    ],
  };
  const retold = (llm: object): object => Object(body(llm, given)).messages[1];

  it.each(['kimi-k2.6', 'moonshot/kimi-k3', 'k3', 'k3-256k', 'k2p7'])(
    'comes to %s, which refuses it otherwise, with a blank for a thought',
    (model) => {
      const baseURL = 'http://127.0.0.1:1/v1';
      expect(retold({ provider: 'openai-compatible', model, baseURL })).toMatchObject({
        reasoning_content: ' ',
      });
      expect(retold({ provider: 'openai', model, baseURL })).toMatchObject({ reasoning_content: ' ' });
      expect(retold({ provider: 'openrouter', model })).toMatchObject({ reasoning_content: ' ' });
      expect(retold({ provider: 'groq', model })).not.toHaveProperty('reasoning_content');
    },
  );

  it.each(['openai', 'openai-compatible', 'openrouter'])(
    'comes to DeepSeek at %s with an empty thought',
    (provider) => {
      const llm = { provider, model: 'deepseek-v4-pro', baseURL: 'http://127.0.0.1:1/v1' };
      expect(retold(llm)).toMatchObject({ reasoning_content: '' });
      expect(retold({ ...llm, model: 'gpt-5.6' })).not.toHaveProperty('reasoning_content');
    },
  );

  it.each(['groq/moonshotai/kimi-k2-instruct', 'LLM360/K2', 'k2'])('comes to %s as it is', (model) => {
    const baseURL = 'http://127.0.0.1:1/v1';
    expect(retold({ provider: 'openai-compatible', model, baseURL })).not.toHaveProperty('reasoning_content');
  });
});

describe('the interface of a model', () => {
  it.each([
    [{ provider: 'openai' as const }, 'responses'],
    [{ provider: 'anthropic' as const }, 'messages'],
    [{ provider: 'google' as const }, 'chat'],
    [{ provider: 'openai' as const, baseURL: 'http://127.0.0.1:1/v1' }, 'chat'],
    [{ provider: 'anthropic' as const, baseURL: 'http://127.0.0.1:1/v1' }, 'chat'],
    [
      { provider: 'anthropic' as const, baseURL: 'http://127.0.0.1:1/v1', api: 'messages' as const },
      'messages',
    ],
  ])('of %j is %s', (llm, api) => {
    expect(modelApiOf(llm)).toBe(api);
  });
});
