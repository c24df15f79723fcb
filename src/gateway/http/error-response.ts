import type { ServiceError } from '../../core/errors.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { errorCatalogue } from '../../wire/error-catalogue.ts';
import type { ErrorResponse } from '../../wire/responses.ts';
import { jsonResponse, now } from './http-message.ts';

/** The error envelope of every REST error. */
export function errorResponse(error: ServiceError): HttpResponse {
  return jsonResponse<ErrorResponse>(
    errorEnvelope(error),
    errorCatalogue[error.code].status,
    retryHeaders(error),
  );
}

export function errorEnvelope(error: ServiceError): ErrorResponse {
  return { success: false, error: error.body, timestamp: now() };
}

/** How a client gets another answer: with a credential, or after `Retry-After` seconds. */
export function retryHeaders({ code, details }: ServiceError): Record<string, string> {
  if (code === 'UNAUTHORIZED') return { 'WWW-Authenticate': 'Bearer' };
  const { retryAfter, resetTime } = details;
  if (typeof retryAfter === 'number') return { 'Retry-After': String(retryAfter) };
  if (code === 'RATE_LIMIT_EXCEEDED' && typeof resetTime === 'number') {
    return { 'Retry-After': String(Math.max(1, Math.ceil(resetTime - Date.now() / 1000))) };
  }
  return {};
}
