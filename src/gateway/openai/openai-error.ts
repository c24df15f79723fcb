import { z } from 'zod';
import type { ErrorCode, ServiceError } from '../../core/errors.ts';
import { TooLargeError } from '../../core/size-limits.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { errorCatalogue } from '../../wire/error-catalogue.ts';
import { retryHeaders } from '../http/error-response.ts';
import { jsonResponse } from '../http/http-message.ts';
import { errorText } from '../requests/error-text.ts';

/** An error as OpenAI's clients know it. */
export const OpenAiError = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable().describe('The field of the request that it is about.'),
    code: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).describe("Those of the service's own error."),
  }),
});
export type OpenAiError = z.infer<typeof OpenAiError>;

const TYPES: Readonly<Partial<Record<number, string>>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'server_error',
  503: 'server_error',
};

/** What OpenAI calls them. The others have the code of the service in lower case. */
const CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  UNAUTHORIZED: 'invalid_api_key',
  AGENT_NOT_FOUND: 'model_not_found',
};

/**
 * After these a request must not be sent again by itself, as OpenAI's clients do after a status of 409, 429 or from 500 on:
 * it has been recorded, or may have been.
 */
const FINAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['AGENT_ERROR', 'INTERNAL_ERROR', 'TURN_CANCELLED', 'OUTCOME_UNKNOWN', 'SESSION_BUSY'] as const),
]);

export function openAiError(error: Pick<ServiceError, 'code' | 'message' | 'details'>): OpenAiError {
  const { code, details } = error;
  const { status } = errorCatalogue[code];
  return {
    error: {
      message: errorText(error),
      type: TYPES[status] ?? 'invalid_request_error',
      param: typeof details.field === 'string' ? details.field : null,
      code: CODES[code] ?? code.toLowerCase(),
      details,
    },
  };
}

/** Ends a stream of chat completions, whose events have no names. */
export function chatErrorEvent(error: ServiceError): string {
  return `data: ${JSON.stringify(openAiError(error))}\n\n`;
}

/**
 * Ends a stream of the events of a response. OpenAI's documents have the fields of the error in the event itself, and its SDKs
 * read them from `error`.
 *
 * @param number the `sequence_number` of the event.
 */
export function responseErrorEvent(error: ServiceError, number: number): string {
  const told = openAiError(error);
  const { code, message, param } = told.error;
  const event = { type: 'error', sequence_number: number, code, message, param, ...told };
  return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
}

export function openAiErrorResponse(error: ServiceError): HttpResponse {
  const { status } = errorCatalogue[error.code];
  // What is too large is so each time.
  const isFinal = FINAL.has(error.code) || error instanceof TooLargeError;
  return jsonResponse<OpenAiError>(openAiError(error), status, {
    ...retryHeaders(error),
    ...(isFinal && { 'x-should-retry': 'false' }),
  });
}
