import type { ProviderRules } from '../provider-rules.ts';
import { objectsIn, textIn } from './body-fields.ts';

/** NVIDIA NIM at integrate.api.nvidia.com, as an OpenAI-compatible server. */
export const nvidiaNimRules: ProviderRules = {
  provider: 'openai-compatible',
  api: 'chat',
  rules: [
    {
      name: 'a request to Nemotron 4 has no field that this model does not know',
      source: 'https://github.com/NVIDIA/garak/issues/748',
      refusal(body) {
        if (!textIn(body, 'model').startsWith('nvidia/nemotron-4-340b')) return undefined;
        const fields = ['frequency_penalty', 'n', 'presence_penalty'].filter(
          (field) => body[field] !== undefined,
        );
        return fields.length === 0
          ? undefined
          : {
              status: 422,
              body: {
                type: 'urn:inference-service:problem-details:unprocessable-entity',
                title: 'Unprocessable Entity',
                status: 422,
                detail: fields
                  .map((field) => `body -> ${field}\n  Extra inputs are not permitted (type=extra_forbidden)`)
                  .join('\n'),
                instance: '/v2/nvcf/pexec/functions/b0fcd392-e905-4ab4-8eb9-aeae95c30b37',
                requestId: '380d3287-f799-4c60-a12f-d5448609595a',
              },
            };
      },
    },
    {
      name: 'no tools are offered to a model that is served without them',
      source: 'https://github.com/hidenobunagai/nvidia-nim-provider/issues/2',
      refusal(body) {
        const isWithoutTools = textIn(body, 'model').startsWith('mistralai/mixtral-8x');
        return isWithoutTools && objectsIn(body, 'tools').length > 0
          ? {
              status: 400,
              body: {
                error: {
                  message:
                    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
                  type: 'BadRequestError',
                  param: null,
                  code: 400,
                },
              },
            }
          : undefined;
      },
    },
  ],
};
