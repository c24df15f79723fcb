import type { ProviderRules } from '../provider-rules.ts';

/** SambaNova, as an OpenAI-compatible server. */
export const sambaNovaRules: ProviderRules = {
  provider: 'openai-compatible',
  api: 'chat',
  rules: [
    {
      name: 'top_p is between 0 and 1',
      source: 'https://docs.sambanova.ai/docs/ja/api-reference/using-the-api/api-error-codes.md',
      refusal(body) {
        const topP = body.top_p;
        return typeof topP === 'number' && topP > 1
          ? {
              status: 400,
              body: {
                error: {
                  message: `Decimal above maximum value. Expected a value between 0 and 1, but got ${topP} instead.`,
                  type: 'invalid_request_error',
                  param: 'top_p',
                  code: 'decimal_above_max_value',
                },
                request_id: '2a8b3c4d-1234-5678-abcd-ef0123456789',
              },
            }
          : undefined;
      },
    },
  ],
};
