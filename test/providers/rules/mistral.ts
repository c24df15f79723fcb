import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { objectsIn, textIn } from './body-fields.ts';

const KNOWN_FIELDS = new Set([
  'model',
  'messages',
  'temperature',
  'top_p',
  'max_tokens',
  'stream',
  'stop',
  'random_seed',
  'metadata',
  'response_format',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'presence_penalty',
  'frequency_penalty',
  'n',
  'prediction',
  'prompt_mode',
  'reasoning_effort',
  'safe_prompt',
  'document_image_limit',
  'document_page_limit',
]);

export const mistralRules: ProviderRules = {
  provider: 'mistral',
  api: 'chat',
  rules: [
    {
      name: 'the id of a tool call is nine letters and digits',
      source: 'https://github.com/editor-code-assistant/eca/issues/233',
      refusal(body) {
        const ids = objectsIn(body, 'messages').flatMap((message) => [
          ...objectsIn(message, 'tool_calls').map((call) => textIn(call, 'id')),
          ...(textIn(message, 'role') === 'tool' ? [textIn(message, 'tool_call_id')] : []),
        ]);
        const wrong = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
        return wrong === undefined
          ? undefined
          : refusedBecause(
              `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.`,
              'invalid_function_call',
              '3280',
            );
      },
    },
    {
      name: 'no user message follows a tool message',
      source: 'https://github.com/BerriAI/litellm/issues/17761',
      refusal(body) {
        return hasPair(rolesOf(body), 'tool', 'user')
          ? refusedBecause(
              "Unexpected role 'user' after role 'tool'",
              'invalid_request_message_order',
              '3230',
            )
          : undefined;
      },
    },
    {
      name: 'no tool message follows a user message',
      source: 'https://github.com/charmbracelet/crush/issues/279',
      refusal(body) {
        return hasPair(rolesOf(body), 'user', 'tool')
          ? refusedBecause(
              "Unexpected role 'tool' after role 'user'",
              'invalid_request_message_order',
              '3230',
            )
          : undefined;
      },
    },
    {
      name: 'the last message is from the user or a tool, or is an assistant message to be continued',
      source: 'https://github.com/NEKOparapa/AiNiee/issues/641',
      refusal(body) {
        const last = objectsIn(body, 'messages').at(-1);
        return last !== undefined && textIn(last, 'role') === 'assistant' && last.prefix !== true
          ? refusedBecause(
              'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
            )
          : undefined;
      },
    },
    {
      // The report quotes the message alone.
      name: 'there are as many tool results as tool calls',
      source: 'https://github.com/partITech/php-mistral/issues/57',
      refusal(body) {
        const messages = objectsIn(body, 'messages');
        const isUneven = messages.some((message, position) => {
          const calls = objectsIn(message, 'tool_calls').length;
          const next = messages.slice(position + 1);
          const end = next.findIndex((one) => textIn(one, 'role') !== 'tool');
          return calls > 0 && calls !== (end === -1 ? next.length : end);
        });
        return isUneven ? refusedBecause('Not the same number of function calls and responses') : undefined;
      },
    },
    {
      name: 'the request has no field that Mistral does not know',
      source: 'https://github.com/partITech/php-mistral/issues/76',
      refusal(body) {
        const problems = Object.entries(body)
          .filter(([field, value]) => value !== undefined && !KNOWN_FIELDS.has(field))
          .map(([field, input]) => ({
            type: 'extra_forbidden',
            loc: ['body', field],
            msg: 'Extra inputs are not permitted',
            input,
          }));
        return problems.length === 0
          ? undefined
          : {
              status: 422,
              body: {
                object: 'Error',
                detail: problems,
                message: problems,
                type: 'invalid_request_error',
                code: 3001,
              },
            };
      },
    },
  ],
};

function rolesOf(body: Readonly<Record<string, unknown>>): readonly string[] {
  return objectsIn(body, 'messages').map((message) => textIn(message, 'role'));
}

function hasPair(roles: readonly string[], first: string, second: string): boolean {
  return roles.some((role, position) => role === first && roles[position + 1] === second);
}

function refusedBecause(
  message: string,
  type = 'invalid_request_error',
  code: string | null = null,
): Refusal {
  return { status: 400, body: { object: 'error', message, type, param: null, code } };
}
