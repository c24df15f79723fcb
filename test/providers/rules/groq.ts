import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { objectIn, objectsIn, textIn } from './body-fields.ts';

/** `reasoning` is Groq's own name for thoughts; `reasoning_content` is not. */
const MESSAGE_FIELDS = new Set([
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'reasoning',
]);

export const groqRules: ProviderRules = {
  provider: 'groq',
  api: 'chat',
  rules: [
    {
      name: 'a message has no field that Groq does not know, such as reasoning_content',
      source: 'https://github.com/AstrBotDevs/AstrBot/issues/5946',
      refusal(body) {
        for (const [position, message] of objectsIn(body, 'messages').entries()) {
          const field = Object.keys(message).find(
            (name) => message[name] !== undefined && !MESSAGE_FIELDS.has(name),
          );
          if (field === undefined) continue;
          const place = `'messages.${position}'`;
          return refusedBecause(
            `${place} : for 'role:${textIn(message, 'role')}' the following must be satisfied[(${place} : property '${field}' is unsupported)]`,
          );
        }
        return undefined;
      },
    },
    {
      name: 'thoughts come back only to a model that thinks',
      source: 'https://github.com/vercel/ai/pull/8057',
      refusal(body) {
        if (/gpt-oss|qwen|deepseek-r1/.test(textIn(body, 'model'))) return undefined;
        const position = objectsIn(body, 'messages').findIndex((message) => message.reasoning !== undefined);
        return position === -1
          ? undefined
          : refusedBecause(`messages[${position}].reasoning: reasoning is not supported with this model`);
      },
    },
    {
      name: 'the effort to think is not asked for as reasoning',
      source: 'https://github.com/musistudio/llms/pull/64',
      refusal(body) {
        return body.reasoning === undefined
          ? undefined
          : refusedBecause("property 'reasoning' is unsupported");
      },
    },
    {
      name: 'no tools are offered in JSON mode',
      source:
        'https://github.com/vercel/ai/blob/60a46fa82da9cbf3edd7e31d39a4ad0db8563162/packages/groq/src/__fixtures__/issue-10023-output-with-tools-error.json',
      refusal(body) {
        const format = textIn(objectIn(body, 'response_format'), 'type');
        return format.startsWith('json') && objectsIn(body, 'tools').length > 0
          ? refusedBecause('json mode cannot be combined with tool/function calling', {
              param: 'response_format',
            })
          : undefined;
      },
    },
  ],
};

function refusedBecause(message: string, more: object = {}): Refusal {
  return { status: 400, body: { error: { message, type: 'invalid_request_error', ...more } } };
}
