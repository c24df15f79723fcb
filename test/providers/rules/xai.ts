import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { firstOf, placedIn, textIn } from './body-fields.ts';

/** xAI's refusal: both fields are texts. */
function refuse(error: string): Refusal {
  return { status: 400, body: { code: 'Client specified an invalid argument', error } };
}

/** What xAI refuses over chat completions. */
export const xaiRules: ProviderRules = {
  provider: 'xai',
  api: 'chat',
  rules: [
    {
      name: 'every message has content, even beside tool calls',
      source: 'https://github.com/langchain-ai/langchain/issues/34140',
      refusal(body) {
        return firstOf(placedIn(body, 'messages'), ({ one }) => {
          if (typeof one.content === 'string' || placedIn(one, 'content').length > 0) return undefined;
          return refuse('Invalid request content: Each message must have at least one content element.');
        });
      },
    },
    {
      name: 'a reasoning model gets no presence penalty',
      source: 'https://github.com/yym68686/uni-api/issues/105',
      refusal(body) {
        const thinks = /^grok-[34]/.test(textIn(body, 'model'));
        if (typeof body.presence_penalty !== 'number' || !thinks) return undefined;
        return refuse('Argument not supported on this model: presencePenalty');
      },
    },
  ],
};
