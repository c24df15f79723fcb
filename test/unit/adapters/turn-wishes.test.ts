import { describe, expect, it } from 'vitest';
import { messagesRequest } from '../../../src/adapters/anthropic/messages-request.ts';
import { ThinkingPrefixes } from '../../../src/adapters/anthropic/thinking-blocks.ts';
import { chatRequest } from '../../../src/adapters/openai/chat/chat-request.ts';
import { responsesRequest } from '../../../src/adapters/openai/responses/responses-request.ts';
import { LlmConfig } from '../../../src/config/schema/llm-config.ts';
import { providerEndpoint } from '../../../src/model-http/provider/provider-endpoint.ts';
import type { ModelRequest } from '../../../src/ports/language-model.ts';
import { googleChatRules } from '../../providers/rules/google-chat.ts';
import { moonshotRules } from '../../providers/rules/moonshot.ts';

const tools = [{ name: 'look', description: '', inputSchema: { type: 'object', properties: {} } }];
const request: ModelRequest = { systemPrompt: '', messages: [{ role: 'user', text: 'hi' }], tools };
const output = { name: 'colour', schema: { type: 'object' }, strict: true };

function parts(llm: object) {
  const config = LlmConfig.parse({ provider: 'openai', model: 'm', apiKey: 'k', ...llm });
  return { config, access: providerEndpoint(config, {}) };
}

function chat(wishes: Partial<ModelRequest>, provider = 'openai', llm: object = {}): object {
  const { config, access } = parts({ provider, api: 'chat', ...llm });
  return chatRequest(access, config, { ...request, ...wishes });
}

function responses(wishes: Partial<ModelRequest>): object {
  const { config, access } = parts({ api: 'responses' });
  return responsesRequest(access, config, { ...request, ...wishes }, new Set());
}

function messages(wishes: Partial<ModelRequest>, llm: object = {}): object {
  const { config, access } = parts({ provider: 'anthropic', ...llm });
  return messagesRequest(access, config, { ...request, ...wishes }, new ThinkingPrefixes()).body;
}

describe('what a client wants for one turn', () => {
  it('a tool that the model must use is named as each interface names it', () => {
    const toolChoice = { name: 'look' };
    expect(chat({ toolChoice })).toMatchObject({
      tool_choice: { type: 'function', function: { name: 'look' } },
    });
    expect(responses({ toolChoice })).toMatchObject({ tool_choice: { type: 'function', name: 'look' } });
    expect(messages({ toolChoice })).toMatchObject({ tool_choice: { type: 'tool', name: 'look' } });
  });

  it('any tool, or none', () => {
    expect(chat({ toolChoice: 'required' })).toMatchObject({ tool_choice: 'required' });
    expect(responses({ toolChoice: 'none' })).toMatchObject({ tool_choice: 'none' });
    expect(messages({ toolChoice: 'required' })).toMatchObject({ tool_choice: { type: 'any' } });
    expect(messages({ toolChoice: 'none' })).toMatchObject({ tool_choice: { type: 'none' } });
    expect(messages({ toolChoice: 'required' }, { parallelToolCalls: false })).toMatchObject({
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    });
    expect(messages({})).not.toHaveProperty('tool_choice');
  });

  it.each(['claude-haiku-4-5', 'claude-sonnet-4-6', 'claude-sonnet-5'])(
    'a tool that %s must use is called without thinking, which would be refused beside it',
    (model) => {
      const thinker = { model, reasoningEffort: 'high' };
      for (const toolChoice of ['required', { name: 'look' }] as const) {
        const forced = messages({ toolChoice }, thinker);
        expect(forced).toMatchObject({ thinking: { type: 'disabled' } });
        expect(forced).not.toHaveProperty('output_config');
      }
      expect(messages({ toolChoice: 'required' }, thinker)).toMatchObject({ tool_choice: { type: 'any' } });
      for (const toolChoice of ['none', 'auto'] as const)
        expect(messages({ toolChoice }, thinker)).not.toMatchObject({ thinking: { type: 'disabled' } });
    },
  );

  it.each(['claude-sonnet-5-5', 'claude-opus-5-5'])(
    'a tool is left to the choice of %s, whose thinking cannot be disabled',
    (model) => {
      for (const llm of [{ model }, { model, reasoningEffort: 'high' }]) {
        const forced = messages({ toolChoice: { name: 'look' } }, llm);
        expect(forced).not.toHaveProperty('tool_choice');
        expect(forced).not.toMatchObject({ thinking: { type: 'disabled' } });
      }
      const alone = messages({ toolChoice: 'required' }, { model, parallelToolCalls: false });
      expect(alone).toMatchObject({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } });
    },
  );

  it('a tool that Claude must use behind a gateway is called without thinking, too', () => {
    const llm = { model: 'anthropic/claude-sonnet-4.6', reasoningEffort: 'high' };
    for (const toolChoice of ['required', { name: 'look' }] as const)
      expect(chat({ toolChoice }, 'openrouter', llm)).not.toHaveProperty('reasoning');
    for (const toolChoice of ['none', 'auto'] as const)
      expect(chat({ toolChoice }, 'openrouter', llm)).toMatchObject({ reasoning: { effort: 'high' } });
    const other = { ...llm, model: 'openai/gpt-5.6' };
    expect(chat({ toolChoice: 'required' }, 'openrouter', other)).toHaveProperty('reasoning');
  });

  it('a tool that LM Studio must use is the only one, because it takes no name', () => {
    const other = { name: 'listen', description: '', inputSchema: { type: 'object' } };
    const body = chat({ toolChoice: { name: 'look' }, tools: [...tools, other] }, 'lmstudio');
    expect(body).toMatchObject({ tool_choice: 'required', tools: [{ function: { name: 'look' } }] });
    expect(chat({ toolChoice: 'required', tools: [...tools, other] }, 'lmstudio')).toMatchObject({
      tool_choice: 'required',
      tools: [{ function: { name: 'look' } }, { function: { name: 'listen' } }],
    });
  });

  it.each([
    ['kimi-k2.6', undefined],
    ['moonshotai/kimi-k2.7-code', undefined],
    ['kimi-for-coding', undefined],
    ['kimi-k3', 'required'],
    ['k3-256k', 'required'],
  ])('a tool that %s must use: Kimi that thinks takes no name, and before K3 no force', (model, choice) => {
    const other = { name: 'listen', description: '', inputSchema: { type: 'object' } };
    const access = { model, baseURL: 'http://127.0.0.1:1/v1' };
    for (const provider of ['openai-compatible', 'openrouter']) {
      const forced = chat({ toolChoice: { name: 'look' }, tools: [...tools, other] }, provider, access);
      expect(Object(forced).tool_choice).toBe(choice);
      expect(Object(forced).tools).toHaveLength(choice === undefined ? 2 : 1);
      expect(Object(chat({ toolChoice: 'required' }, provider, access)).tool_choice).toBe(choice);
    }
    const still = { ...access, extraBody: { thinking: { type: 'disabled' } } };
    expect(chat({ toolChoice: 'required' }, 'openai-compatible', still)).toMatchObject({
      tool_choice: 'required',
    });
  });

  it('the schema of the reply goes to interfaces and providers that take it', () => {
    const format = { type: 'json_schema', json_schema: output };
    expect(chat({ output })).toMatchObject({ response_format: format });
    expect(responses({ output })).toMatchObject({ text: { format: { type: 'json_schema', ...output } } });
    expect(chat({ output }, 'ollama')).not.toHaveProperty('response_format');
    expect(chat({ output, tools: [] }, 'ollama')).toMatchObject({ response_format: format });
    expect(chat({ output, tools: [] }, 'deepseek')).not.toHaveProperty('response_format');
    expect(chat({})).not.toHaveProperty('response_format');
  });

  it.each([
    ['google', 'gemini-3-pro', googleChatRules],
    ['openrouter', 'moonshotai/kimi-k3', moonshotRules],
  ])('the schema of the reply goes to %s (%s) without what it refuses', (provider, model, { rules }) => {
    const $schema = 'http://json-schema.org/draft-07/schema#';
    const day = { type: 'string', minLength: 10 };
    const properties = {
      from: { $ref: '#/$defs/day' },
      to: { type: ['string', 'null'] },
      on: { type: 'string', anyOf: [{ $ref: '#/properties/from' }, { const: 'today' }] },
    };
    const schema = { $schema, type: 'object', properties, $defs: { day }, additionalProperties: false };
    const refusals = (body: object) => rules.flatMap(({ refusal }) => refusal({ ...body }) ?? []);
    const raw = { response_format: { json_schema: { schema } } };
    const given = chat({ output: { ...output, schema }, tools: [] }, provider, { model });
    expect(refusals({ ...given, ...raw })).toHaveLength(1);
    expect(refusals(given)).toEqual([]);
    expect(given).toMatchObject({
      response_format: { json_schema: { ...output, schema: { properties: { from: day } } } },
    });
  });

  it.each(['ollama', 'lmstudio'])('a pattern of the reply stands in a description for %s', (provider) => {
    const day = { type: 'string', pattern: '\\d{4}' };
    const schema = { type: 'object', properties: { day }, $defs: { day } };
    const described = { type: 'string', description: String.raw`It has: pattern \d{4}.` };
    const { response_format } = Object({ ...chat({ output: { ...output, schema }, tools: [] }, provider) });
    expect(response_format.json_schema).toEqual({
      ...output,
      schema: { type: 'object', properties: { day: described }, $defs: { day: described } },
    });
  });

  it('a pattern that OpenAI cannot read stands in a description, over both interfaces', () => {
    const schema = { type: 'object', properties: { name: { type: 'string', pattern: '^\\p{L}+$' } } };
    const described = { type: 'string', description: String.raw`It has: pattern ^\p{L}+$.` };
    const sent = { ...output, schema: { type: 'object', properties: { name: described } } };
    expect(Object(chat({ output: { ...output, schema } })).response_format.json_schema).toEqual(sent);
    expect(Object(responses({ output: { ...output, schema } })).text.format).toEqual({
      type: 'json_schema',
      ...sent,
    });
  });
});
