import type { ProviderRules } from '../provider-rules.ts';
import { type JsonObject, objectIn, objectsIn, textIn } from './body-fields.ts';
import { callIdsOf, isMistralId } from './chat-templates.ts';

/** The rules of servers that speak like OpenAI, each for the models by which the server is known. */
export const openaiCompatibleRules: ProviderRules = {
  provider: 'openai-compatible',
  api: 'chat',
  rules: [
    {
      name: 'top_p lies between 0 and 1 for TGI, and is neither of them',
      source: 'https://github.com/huggingface/text-generation-inference/issues/1896',
      refusal(body) {
        const { top_p: share } = body;
        return textIn(body, 'model') === 'tgi' && typeof share === 'number' && (share <= 0 || share >= 1)
          ? {
              status: 422,
              body: {
                error: 'Input validation error: `top_p` must be > 0.0 and < 1.0',
                error_type: 'validation',
              },
            }
          : undefined;
      },
    },
    {
      name: 'the id of a tool call is nine letters and digits for models of Mistral on MLX',
      source: 'https://github.com/ml-explore/mlx-lm/issues/1375',
      refusal(body) {
        const isMistral = /^mlx-community\/(mistral|ministral)/i.test(textIn(body, 'model'));
        return isMistral && !callIdsOf(body).every(isMistralId)
          ? { status: 404, body: { error: 'Tool call IDs should be alphanumeric strings with length 9!' } }
          : undefined;
      },
    },
    {
      name: 'each tool has parameters for Databricks',
      source: 'https://github.com/posit-dev/querychat/issues/273',
      refusal(body) {
        const complete = objectsIn(body, 'tools').every((tool) => 'parameters' in objectIn(tool, 'function'));
        return isDatabricks(body) && !complete
          ? {
              status: 400,
              body: {
                error_code: 'BAD_REQUEST',
                message:
                  'Bad request: "parameters" is a required property for "function" object in parameter "tools"',
              },
            }
          : undefined;
      },
    },
    {
      name: 'content is a string for the models of Llama on Databricks',
      source: 'https://github.com/run-llama/llama_index/issues/17239',
      refusal(body) {
        const hasParts = objectsIn(body, 'messages').some((message) => Array.isArray(message.content));
        return isDatabricks(body) && /llama/i.test(textIn(body, 'model')) && hasParts
          ? {
              status: 400,
              body: {
                error_code: 'BAD_REQUEST',
                message:
                  "Unable to parse json body for request, field 'messages.content' expects input with json type 'string' but got 'array'",
              },
            }
          : undefined;
      },
    },
  ],
};

function isDatabricks(body: JsonObject): boolean {
  return textIn(body, 'model').startsWith('databricks-');
}
