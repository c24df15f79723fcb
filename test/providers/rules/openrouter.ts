import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { type JsonObject, objectIn, objectsIn, textIn } from './body-fields.ts';

export const openRouterRules: ProviderRules = {
  provider: 'openrouter',
  api: 'chat',
  rules: [
    {
      name: 'DeepSeek V4 gets reasoning_content back with every reply once there are tools, an empty one too',
      source:
        'https://github.com/UKGovernmentBEIS/inspect_ai/pull/4080 and https://github.com/NousResearch/hermes-agent/pull/15325',
      refusal(body) {
        const replies = objectsIn(body, 'messages').filter(({ role }) => role === 'assistant');
        const usesTools = objectsIn(body, 'tools').length > 0 || replies.some(hasCalls);
        return textIn(body, 'model').startsWith('deepseek/deepseek-v4') &&
          usesTools &&
          replies.some(isThoughtless)
          ? refusedBy(
              'DeepSeek',
              '{"error":{"message":"The `reasoning_content` in the thinking mode must be passed back to the API.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}',
            )
          : undefined;
      },
    },
    {
      name: 'Kimi gets reasoning_content back with tool calls',
      source:
        'https://github.com/anomalyco/opencode/issues/29690 and https://github.com/routatic/proxy/issues/1',
      refusal(body) {
        const at = objectsIn(body, 'messages').findIndex((one) => hasCalls(one) && isThoughtless(one));
        return textIn(body, 'model').startsWith('moonshotai/kimi-') && at >= 0
          ? refusedBy(
              'Moonshot AI',
              `{"error":{"message":"thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}","type":"invalid_request_error"}}`,
            )
          : undefined;
      },
    },
    {
      name: 'the first call of a message has the reasoning detail with the signature of Gemini 3',
      source: 'https://github.com/LibreChat-AI/agents/issues/37',
      refusal(body) {
        const messages = objectsIn(body, 'messages');
        const turn = messages.findLastIndex(({ role }) => role === 'user');
        const unsigned = messages.slice(turn + 1).some((message) => hasCalls(message) && !isSigned(message));
        return textIn(body, 'model').startsWith('google/gemini-3') && unsigned
          ? refusedBy(
              'Google AI Studio',
              'Gemini models require OpenRouter reasoning details to be preserved in each request. Upstream error: { "error": { "code": 400, "message": "Function call is missing a thought_signature in functionCall parts.", "status": "INVALID_ARGUMENT" } }',
            )
          : undefined;
      },
    },
    {
      name: 'a model that always thinks is not told to think with no effort',
      source:
        'https://github.com/pydantic/pydantic-ai/blob/217a4f0938954c2e58be9ca0f8eac421f5d88dd0/tests/models/cassettes/test_openrouter/test_openrouter_thinking_false_on_always_on_route.yaml',
      refusal(body) {
        const effort = textIn(objectIn(body, 'reasoning'), 'effort');
        return textIn(body, 'model') === 'openai/o3' && effort === 'none'
          ? refusedBy(
              'OpenAI',
              '{\n  "error": {\n    "message": "Unsupported value: \'none\' is not supported with the \'o3-2025-04-16\' model. Supported values are: \'low\', \'medium\', and \'high\'.",\n    "type": "invalid_request_error",\n    "param": "reasoning.effort",\n    "code": "unsupported_value"\n  }\n}',
            )
          : undefined;
      },
    },
    {
      name: 'the messages keep the order that the provider of the model demands',
      source: 'https://github.com/charmbracelet/crush/issues/279',
      refusal(body) {
        const roles = objectsIn(body, 'messages').map((message) => textIn(message, 'role'));
        const isOutOfOrder = roles.some(
          (role, position) => role === 'user' && roles[position + 1] === 'tool',
        );
        return textIn(body, 'model').startsWith('mistralai/') && isOutOfOrder
          ? refusedBy(
              'Mistral',
              '{"object":"error","message":"Unexpected role \'tool\' after role \'user\'","type":"invalid_request_message_order","param":null,"code":"3230"}',
            )
          : undefined;
      },
    },
  ],
};

function hasCalls(message: JsonObject): boolean {
  return objectsIn(message, 'tool_calls').length > 0;
}

function isSigned(message: JsonObject): boolean {
  const [first] = objectsIn(message, 'tool_calls');
  return objectsIn(message, 'reasoning_details').some(
    (detail) => detail.type === 'reasoning.encrypted' && detail.id === first?.id && detail.data !== '',
  );
}

function isThoughtless(message: JsonObject): boolean {
  return typeof message.reasoning_content !== 'string';
}

function refusedBy(provider: string, raw: string): Refusal {
  return {
    status: 400,
    body: {
      error: { message: 'Provider returned error', code: 400, metadata: { raw, provider_name: provider } },
    },
  };
}
