import type { ProviderRules } from '../provider-rules.ts';
import { textIn } from './body-fields.ts';

/** Qwen on Alibaba's DashScope, as an OpenAI-compatible server. */
export const qwenRules: ProviderRules = {
  provider: 'openai-compatible',
  api: 'chat',
  rules: [
    {
      name: 'a model thinks only in a streamed answer',
      source: 'https://github.com/tencentmusic/supersonic/issues/2355',
      refusal(body) {
        if (body.stream === true) return undefined;
        // The models with open weights, such as qwen3-8b, think unless they are told not to.
        const thinksByDefault = /^qwen3-\d+b/.test(textIn(body, 'model'));
        const thinking = body.enable_thinking;
        return thinking === true || (thinking !== false && thinksByDefault)
          ? {
              status: 400,
              body: {
                error: {
                  code: 'invalid_parameter_error',
                  message: 'parameter.enable_thinking must be set to false for non-streaming calls',
                  param: null,
                  type: 'invalid_request_error',
                },
                request_id: '53ada3be-865a-4b26-a48d-1ca6e3cf6219',
              },
            }
          : undefined;
      },
    },
  ],
};
