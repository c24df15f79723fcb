import type { ProviderShapes, WireAnswer } from '../wire-shape.ts';

const GEMINI_CLI = 'https://github.com/google-gemini/gemini-cli/issues';
const CONTINUE = 'https://github.com/continuedev/continue/issues';

/** Most errors come as the only member of an array. */
function listed(code: number, message: string, status: string, more: object = {}): WireAnswer {
  return { status: code, body: JSON.stringify([{ error: { code, message, ...more, status } }]) };
}

function plain(code: number, message: string, status: string, more: object = {}): WireAnswer {
  return { status: code, body: JSON.stringify({ error: { code, message, status, ...more } }) };
}

/** How Gemini reports what went wrong over OpenAI's chat completions. */
export const googleChatErrorsShapes: ProviderShapes = {
  provider: 'google',
  api: 'chat',
  shapes: [
    {
      name: 'refuses an API key with status 400',
      source: `${CONTINUE}/10530`,
      answer: plain(400, 'API key not valid. Please pass a valid API key.', 'INVALID_ARGUMENT', {
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'API_KEY_INVALID',
            domain: 'googleapis.com',
            metadata: { service: 'generativelanguage.googleapis.com' },
          },
          {
            '@type': 'type.googleapis.com/google.rpc.LocalizedMessage',
            locale: 'en-US',
            message: 'API key not valid. Please pass a valid API key.',
          },
        ],
      }),
      expected: { failure: /key/i },
    },
    {
      name: 'says in an array that its resources are exhausted',
      source: 'https://github.com/n4ze3m/page-assist/issues/406',
      answer: listed(429, 'Resource has been exhausted (e.g. check quota).', 'RESOURCE_EXHAUSTED'),
      expected: { failure: /quota|credit|billing|rate limit|wait/i },
    },
    {
      name: 'names the quota that was exceeded',
      source: `${GEMINI_CLI}/8437`,
      answer: plain(
        429,
        'You exceeded your current quota, please check your plan and billing details. ' +
          'For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.',
        'RESOURCE_EXHAUSTED',
        {
          details: [
            {
              '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
              violations: [
                {
                  quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
                  quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier',
                },
              ],
            },
          ],
        },
      ),
      expected: { failure: /quota|credit|billing/i },
    },
    {
      name: 'has no model of that name',
      source: 'https://github.com/scottstirling/pi2llm',
      answer: listed(
        404,
        'models/foo is not found for API version v1main, or is not supported for generateContent. ' +
          'Call ListModels to see the list of available models and their supported methods.',
        'NOT_FOUND',
      ),
      expected: { failure: /model/i },
    },
    {
      name: 'is not available and lists the reasons',
      source: `${GEMINI_CLI}/11196`,
      answer: listed(503, 'The service is currently unavailable.', 'UNAVAILABLE', {
        errors: [
          {
            message: 'The service is currently unavailable.',
            domain: 'global',
            reason: 'backendError',
          },
        ],
      }),
      expected: { failure: /overloaded|trouble|later/i },
    },
    {
      name: 'is in high demand',
      source: `${CONTINUE}/11549`,
      answer: plain(
        503,
        'This model is currently experiencing high demand. Spikes in demand are usually temporary. ' +
          'Please try again later.',
        'UNAVAILABLE',
      ),
      expected: { failure: /overloaded|trouble|later/i },
    },
    {
      name: 'counts the tokens of a prompt that is too long',
      source: `${GEMINI_CLI}/6678`,
      answer: listed(
        400,
        'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
        'INVALID_ARGUMENT',
        {
          errors: [
            {
              message:
                'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
              domain: 'global',
              reason: 'badRequest',
            },
          ],
        },
      ),
      expected: { failure: /too long|context/i },
    },
    {
      name: 'refuses a request without a model',
      source: 'https://github.com/scottstirling/pi2llm',
      answer: listed(400, 'model is not specified', 'INVALID_ARGUMENT'),
      expected: { failure: /model/i },
    },
  ],
};
