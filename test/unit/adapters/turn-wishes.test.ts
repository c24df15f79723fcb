import { describe, expect, it } from 'vitest';
import { messagesRequest } from '../../../src/adapters/anthropic/messages-request.ts';
import { ThinkingPrefixes } from '../../../src/adapters/anthropic/thinking-blocks.ts';
import { chatRequest } from '../../../src/adapters/openai/chat/chat-request.ts';
import { responsesRequest } from '../../../src/adapters/openai/responses/responses-request.ts';
import { LlmConfig } from '../../../src/config/schema/llm-config.ts';
import { providerEndpoint } from '../../../src/model-http/provider/provider-endpoint.ts';
import type { ModelRequest } from '../../../src/ports/language-model.ts';

const tools = [{ name: 'look', description: '', inputSchema: { type: 'object', properties: {} } }];
const request: ModelRequest = { systemPrompt: '', messages: [{ role: 'user', text: 'hi' }], tools };
const output = { name: 'colour', schema: { type: 'object' }, strict: true };

function parts(llm: object) {
  const config = LlmConfig.parse({ provider: 'openai', model: 'm', apiKey: 'k', ...llm });
  return { config, access: providerEndpoint(config, {}) };
}

function chat(wishes: Partial<ModelRequest>, provider = 'openai'): object {
  const { config, access } = parts({ provider, api: 'chat' });
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

  it('the schema of the reply goes to interfaces and providers that take it', () => {
    const format = { type: 'json_schema', json_schema: output };
    expect(chat({ output })).toMatchObject({ response_format: format });
    expect(responses({ output })).toMatchObject({ text: { format: { type: 'json_schema', ...output } } });
    expect(chat({ output }, 'ollama')).not.toHaveProperty('response_format');
    expect(chat({ output, tools: [] }, 'ollama')).toMatchObject({ response_format: format });
    expect(chat({ output, tools: [] }, 'deepseek')).not.toHaveProperty('response_format');
    expect(chat({})).not.toHaveProperty('response_format');
  });
});
