import type { ProviderRules } from '../provider-rules.ts';
import { objectsIn, textIn } from './body-fields.ts';

/** Perplexity, as an OpenAI-compatible server. */
export const perplexityRules: ProviderRules = {
  provider: 'openai-compatible',
  api: 'chat',
  rules: [
    {
      name: 'after the system messages, user and assistant take turns',
      source: 'https://github.com/perplexityai/api-discussion/issues/265',
      refusal(body) {
        const roles = objectsIn(body, 'messages').map((message) => textIn(message, 'role'));
        const start = roles.findIndex((role) => role !== 'system');
        const turns = start === -1 ? [] : roles.slice(start);
        const isAlternating = turns.every((role, turn) => role === (turn % 2 === 0 ? 'user' : 'assistant'));
        return isAlternating
          ? undefined
          : {
              status: 400,
              body: {
                error: {
                  message:
                    'After the (optional) system message(s), user and assistant roles should be alternating.',
                  type: 'invalid_message',
                  code: 400,
                },
              },
            };
      },
    },
  ],
};
