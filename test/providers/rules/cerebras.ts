import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { objectsIn } from './body-fields.ts';

/** Fields that people saw refused; `reasoning_effort` is not among them. */
const REFUSED_FIELDS = ['thinking', 'enable_thinking', 'reasoning', 'maxTokens'];

export const cerebrasRules: ProviderRules = {
  provider: 'cerebras',
  api: 'chat',
  rules: [
    {
      name: 'thoughts come back as reasoning, not as reasoning_content',
      source: 'https://github.com/Alishahryar1/free-claude-code/issues/1136',
      refusal(body) {
        const places = objectsIn(body, 'messages').flatMap((message, position) =>
          message.reasoning_content === undefined ? [] : [`messages.${position}.assistant.reasoning_content`],
        );
        return places.length === 0 ? undefined : unsupported(places);
      },
    },
    {
      name: 'the request has no field that Cerebras does not know',
      source: 'https://github.com/anomalyco/opencode/issues/6648',
      refusal(body) {
        const places = REFUSED_FIELDS.filter((field) => body[field] !== undefined).map(
          (field) => `body.${field}`,
        );
        return places.length === 0 ? undefined : unsupported(places);
      },
    },
  ],
};

function unsupported(places: readonly string[]): Refusal {
  return {
    status: 400,
    body: {
      message: places.map((place) => `${place}: property '${place}' is unsupported`).join('\n'),
      type: 'invalid_request_error',
      param: 'validation_error',
      code: 'wrong_api_format',
    },
  };
}
