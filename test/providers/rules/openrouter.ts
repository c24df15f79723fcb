import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { objectIn, objectsIn, textIn } from './body-fields.ts';

export const openRouterRules: ProviderRules = {
  provider: 'openrouter',
  api: 'chat',
  rules: [
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

function refusedBy(provider: string, raw: string): Refusal {
  return {
    status: 400,
    body: {
      error: { message: 'Provider returned error', code: 400, metadata: { raw, provider_name: provider } },
    },
  };
}
