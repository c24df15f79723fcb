import { namedEvents, type ProviderShapes, type WireAnswer } from '../wire-shape.ts';

const CLAUDE_CODE = 'https://github.com/anthropics/claude-code/issues';
const SDK = 'https://github.com/anthropics/anthropic-sdk-typescript';
const ERRORS = 'https://platform.claude.com/docs/en/api/errors';

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The error body that most statuses carry. */
function refused(
  status: number,
  type: string,
  message: string,
  headers?: Record<string, string>,
): WireAnswer {
  const requestId = 'req_011CVx8RkTzNqYb4HsLw6PmF';
  return {
    status,
    headers: { 'content-type': 'application/json', 'request-id': requestId, ...headers },
    body: JSON.stringify({ type: 'error', error: { type, message }, request_id: requestId }),
  };
}

function error(details: object, more: object = {}): Event {
  return { type: 'error', error: details, ...more };
}

/** The beginning of a message, up to some text. */
function begun(said: string): Event[] {
  const message = {
    model: 'claude-sonnet-4-5-20250929',
    id: 'msg_01LfVs3nKcWq7XbTz9HpRdYg',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 9, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 },
  };
  const index = 0;
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text: said } },
  ];
}

/** How the Messages API reports what went wrong. */
export const anthropicMessagesErrorsShapes: ProviderShapes = {
  provider: 'anthropic',
  api: 'messages',
  shapes: [
    {
      name: 'is overloaded and says so in a stream of status 200',
      source: 'https://github.com/Wei-Shaw/sub2api/issues/5563',
      answer: {
        headers: { 'content-type': 'text/event-stream; charset=utf-8' },
        body: namedEvents(error({ type: 'overloaded_error', message: 'Overloaded' })),
      },
      expected: { failure: /overloaded|trouble|later/i, text: '' },
      sdk: 'agrees',
    },
    {
      name: 'is overloaded in the middle of its text',
      source: 'https://github.com/kharvd/gpt-cli/issues/71',
      answer: {
        body: namedEvents(
          ...begun('The first half'),
          error({ details: null, type: 'overloaded_error', message: 'Overloaded' }),
        ),
      },
      expected: { failure: /overloaded|trouble|later/i, text: 'The first half' },
      sdk: 'agrees',
    },
    {
      name: 'breaks down in the middle of its text',
      source: ERRORS,
      answer: {
        body: namedEvents(
          ...begun('The first half'),
          error(
            { type: 'api_error', message: 'Internal server error' },
            { request_id: 'req_011CVxB2LmNqTz8RkYw4HsPf' },
          ),
        ),
      },
      expected: { failure: /overloaded|trouble|later/i, text: 'The first half' },
      sdk: 'agrees',
    },
    {
      name: 'refuses an API key',
      source: 'https://github.com/ITSpecialist111/ai_automation_suggester/issues/153',
      answer: refused(401, 'authentication_error', 'invalid x-api-key'),
      expected: { failure: /key/i },
    },
    {
      name: 'refuses a bearer token without the word key',
      source: 'https://github.com/AndyMik90/Aperant/issues/1421',
      answer: refused(401, 'authentication_error', 'Invalid bearer token'),
      expected: { failure: /key/i },
    },
    {
      name: 'forbids a request from a place that it does not serve',
      source: 'https://github.com/enricoros/big-AGI/issues/176',
      answer: {
        status: 403,
        body: JSON.stringify({ error: { type: 'forbidden', message: 'Request not allowed' } }),
      },
      expected: { failure: /not allowed|permission|key/i },
    },
    {
      name: 'has no model of that name',
      source: `${CLAUDE_CODE}/5349`,
      answer: refused(404, 'not_found_error', 'model: sonnet4'),
      expected: { failure: /model/i },
    },
    {
      name: 'has no credit left and answers 400',
      source: `${CLAUDE_CODE}/66314`,
      answer: refused(
        400,
        'invalid_request_error',
        'Your credit balance is too low to access the Anthropic API. ' +
          'Please go to Plans & Billing to upgrade or purchase credits.',
      ),
      expected: { failure: /quota|credit|billing/i },
    },
    {
      name: 'has reached the limits of its owner and answers 400',
      source: `${CLAUDE_CODE}/38035`,
      answer: refused(
        400,
        'invalid_request_error',
        'You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC.',
      ),
      expected: { failure: /quota|credit|billing|usage limit/i },
    },
    {
      name: 'counts the tokens of a prompt that is too long',
      source: `${CLAUDE_CODE}/12186`,
      answer: refused(400, 'invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'),
      expected: { failure: /too long|context/i },
    },
    {
      name: 'has no room for the prompt and max_tokens together',
      source: 'https://github.com/docker/docker-agent/issues/569',
      answer: refused(
        400,
        'invalid_request_error',
        'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, ' +
          'decrease input length or `max_tokens` and try again',
      ),
      expected: { failure: /too long|context/i },
    },
    {
      name: 'refuses a body that is too large for the model',
      source: `${CLAUDE_CODE}/6368`,
      answer: refused(413, 'invalid_request_error', 'Request size exceeds model context window'),
      expected: { failure: /too long|too large|context/i },
    },
    {
      name: 'refuses a body that is too large without naming the type of its answer',
      source: `${CLAUDE_CODE}/10314`,
      answer: {
        status: 413,
        body: JSON.stringify({
          error: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
        }),
      },
      expected: { failure: /too long|too large|context|maximum size/i },
    },
    {
      name: 'refuses an image of another type than the request says',
      source: `${CLAUDE_CODE}/12041`,
      answer: refused(
        400,
        'invalid_request_error',
        'messages.11.content.7.image.source.base64.data: ' +
          'Image does not match the provided media type image/png',
      ),
      expected: { failure: /image/i },
    },
    {
      name: 'refuses an image of more than 8000 pixels',
      source: `${CLAUDE_CODE}/4778`,
      answer: refused(
        400,
        'invalid_request_error',
        'messages.3.content.1.image.source.base64.data: ' +
          'At least one of the image dimensions exceed max allowed size: 8000 pixels',
      ),
      expected: { failure: /image/i },
    },
    {
      name: 'asks to wait by retry-after',
      source: `${CLAUDE_CODE}/71279`,
      answer: refused(
        429,
        'rate_limit_error',
        "This request would exceed your account's rate limit. Please try again later.",
        { 'retry-after': '1' },
      ),
      expected: { failure: /rate limit|wait/i },
    },
    {
      name: 'names a spend limit by a code beside its message',
      source: `${SDK}/blob/main/src/resources/shared.ts`,
      answer: {
        status: 429,
        body: JSON.stringify({
          type: 'error',
          error: {
            type: 'rate_limit_error',
            message: 'The organization has crossed the monthly API usage threshold of its API tier.',
            details: { error_code: 'enforced_spend_limit_reached' },
          },
          request_id: null,
        }),
      },
      expected: { failure: /quota|credit|billing|limit/i },
    },
    {
      name: 'breaks down before it answers',
      source: ERRORS,
      answer: refused(500, 'api_error', 'Internal server error'),
      expected: { failure: /overloaded|trouble|later/i },
    },
    {
      name: 'is overloaded with status 529 and without a request id',
      source: `${CLAUDE_CODE}/7218`,
      answer: {
        status: 529,
        headers: { 'content-type': 'application/json', 'x-should-retry': 'true' },
        body: JSON.stringify({
          type: 'error',
          error: { type: 'overloaded_error', message: 'Overloaded' },
          request_id: null,
        }),
      },
      expected: { failure: /overloaded|trouble|later/i },
    },
    {
      name: 'is overloaded and points to its documentation',
      source: `${CLAUDE_CODE}/39745`,
      answer: refused(529, 'overloaded_error', 'Overloaded. https://docs.claude.com/en/api/errors'),
      expected: { failure: /overloaded|trouble|later/i },
    },
  ],
};
