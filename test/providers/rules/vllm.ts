import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { textIn } from './body-fields.ts';
import {
  beginsWithItsSystemMessage,
  isGemma,
  isQwen35OrLater,
  rolesOf,
  takesTurns,
} from './chat-templates.ts';

export const vllmRules: ProviderRules = {
  provider: 'vllm',
  api: 'chat',
  rules: [
    {
      name: 'user and assistant take turns for Gemma 3',
      source: 'https://github.com/suitenumerique/conversations/issues/197',
      refusal(body) {
        const complaint = 'Conversation roles must alternate user/assistant/user/assistant/...';
        return isGemma(body) && !rolesOf(body).includes('tool') && !takesTurns(body)
          ? refusedBecause(`${complaint} ${complaint}`)
          : undefined;
      },
    },
    {
      name: 'there is no system message for Gemma 1 and 2',
      source: 'https://github.com/vllm-project/vllm/pull/2964',
      refusal(body) {
        const hasNone = /gemma-(2|7)b|gemma-2-/i.test(textIn(body, 'model'));
        return hasNone && rolesOf(body).includes('system')
          ? bareRefusal('System role not supported')
          : undefined;
      },
    },
    {
      name: 'the system message is the first, and the only one, for Qwen 3.5',
      source: 'https://github.com/nashsu/llm_wiki/issues/45',
      refusal(body) {
        return isQwen35OrLater(body) && !beginsWithItsSystemMessage(body)
          ? refusedBecause('System message must be at the beginning.')
          : undefined;
      },
    },
    {
      name: 'there is no system message for Mistral 7B of 2023',
      source: 'https://github.com/microsoft/autogen/issues/1037',
      refusal(body) {
        const isOldMistral = /mistral-7b-instruct-v0\.[12]/i.test(textIn(body, 'model'));
        return isOldMistral && rolesOf(body).includes('system')
          ? {
              status: 400,
              body: {
                object: 'error',
                message: 'Conversation roles must alternate user/assistant/user/assistant/...',
                type: 'invalid_request_error',
                param: null,
                code: null,
              },
            }
          : undefined;
      },
    },
    {
      name: 'the reply may have one token at least',
      source: 'https://github.com/vllm-project/vllm/issues/4667',
      refusal(body) {
        const limit = body.max_completion_tokens ?? body.max_tokens;
        return typeof limit === 'number' && limit < 1
          ? bareRefusal(`max_tokens must be at least 1, got ${limit}.`)
          : undefined;
      },
    },
  ],
};

function refusedBecause(message: string): Refusal {
  return { status: 400, body: { error: { message, type: 'BadRequestError', param: null, code: 400 } } };
}

/** The form of the older versions, in which the body is the error itself. */
function bareRefusal(message: string): Refusal {
  return {
    status: 400,
    body: { object: 'error', message, type: 'BadRequestError', param: null, code: 400 },
  };
}
