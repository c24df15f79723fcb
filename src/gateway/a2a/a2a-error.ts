import { z } from 'zod';
import { type ErrorBody, type ErrorCode, ServiceError } from '../../core/errors.ts';
import { RPC } from '../../core/json-rpc.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { errorCatalogue } from '../../wire/error-catalogue.ts';
import { retryHeaders } from '../http/error-response.ts';
import { errorText } from '../requests/error-text.ts';

/** The errors that A2A defines: their numbers in JSON-RPC, and the names of `google.rpc.Code`. */
const A2A_ERRORS = {
  TASK_NOT_FOUND: { number: -32_001, status: 'NOT_FOUND' },
  TASK_NOT_CANCELABLE: { number: -32_002, status: 'FAILED_PRECONDITION' },
  UNSUPPORTED_OPERATION: { number: -32_004, status: 'FAILED_PRECONDITION' },
  CONTENT_TYPE_NOT_SUPPORTED: { number: -32_005, status: 'INVALID_ARGUMENT' },
  VERSION_NOT_SUPPORTED: { number: -32_009, status: 'FAILED_PRECONDITION' },
  INVALID_PARAMS: { number: RPC.invalidParams, status: 'INVALID_ARGUMENT' },
} as const;
type A2aReason = keyof typeof A2A_ERRORS;

/** Errors of JSON-RPC itself, which have no reason of A2A. */
const JSON_RPC_ERRORS = {
  PARSE_ERROR: RPC.parseError,
  INVALID_REQUEST: RPC.invalidRequest,
  METHOD_NOT_FOUND: RPC.methodNotFound,
} as const;
type JsonRpcFault = keyof typeof JSON_RPC_ERRORS;

/** The names of `google.rpc.Code` for the statuses of HTTP. */
const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  422: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

const A2A_DOMAIN = 'a2a-protocol.org';
const OWN_DOMAIN = 'agent-service';

const ErrorInfo = z.object({
  '@type': z.literal('type.googleapis.com/google.rpc.ErrorInfo'),
  reason: z.string().describe('Of A2A, or the code of the service.'),
  domain: z.enum([A2A_DOMAIN, OWN_DOMAIN]).describe('Who defines the reason.'),
  metadata: z.record(z.string(), z.string()).describe("The code and the details of the service's own error."),
});

const BadRequest = z.object({
  '@type': z.literal('type.googleapis.com/google.rpc.BadRequest'),
  fieldViolations: z.array(z.object({ field: z.string(), description: z.string() })),
});

const ErrorDetails = z.array(z.union([ErrorInfo, BadRequest]));
type ErrorDetails = z.infer<typeof ErrorDetails>;

/** An error of the HTTP+JSON binding: a `google.rpc.Status` in JSON. */
export const A2aRestError = z.object({
  error: z.object({
    code: z.int().describe('The status of HTTP.'),
    status: z.string().describe('The name of a `google.rpc.Code`.'),
    message: z.string(),
    details: ErrorDetails,
  }),
});
export type A2aRestError = z.infer<typeof A2aRestError>;

export const JsonRpcId = z.union(
  [z.string(), z.int(), z.null()],
  'must be a text, a whole number or null; each method has an answer',
);
export type JsonRpcId = z.infer<typeof JsonRpcId>;

export const A2aJsonRpcError = z.object({
  jsonrpc: z.literal('2.0'),
  id: JsonRpcId,
  error: z.object({ code: z.int(), message: z.string(), data: ErrorDetails }),
});
export type A2aJsonRpcError = z.infer<typeof A2aJsonRpcError>;

/** An error that A2A defines, as one of the service: `details.error` says which. */
export function a2aError(reason: A2aReason, message: string, details: Record<string, unknown>): ServiceError {
  const code: ErrorCode = reason === 'TASK_NOT_FOUND' ? 'SESSION_NOT_FOUND' : 'INVALID_REQUEST';
  return new ServiceError(code, message, { error: reason, ...details });
}

/** An error of JSON-RPC itself. */
export function jsonRpcFault(
  fault: JsonRpcFault,
  message: string,
  details: Record<string, unknown> = {},
): ServiceError {
  return new ServiceError('INVALID_REQUEST', message, { error: fault, ...details });
}

export function restError(error: ErrorBody): A2aRestError {
  const { status: code } = errorCatalogue[error.code];
  const reason = reasonOf(error);
  const status = reason ? A2A_ERRORS[reason].status : (STATUS_NAMES[code] ?? 'INTERNAL');
  return { error: { code, status, message: errorText(error), details: detailsOf(error) } };
}

export function restErrorResponse(error: ServiceError): HttpResponse {
  return {
    status: errorCatalogue[error.code].status,
    headers: { 'Content-Type': 'application/a2a+json', ...retryHeaders(error) },
    body: JSON.stringify(restError(error)),
  };
}

export function jsonRpcError(error: ErrorBody, id: JsonRpcId): A2aJsonRpcError {
  const code = numberOf(error);
  return { jsonrpc: '2.0', id, error: { code, message: errorText(error), data: detailsOf(error) } };
}

/** The answer to a request that was refused before its body was read. */
export function jsonRpcErrorResponse(error: ServiceError): HttpResponse {
  return {
    status: errorCatalogue[error.code].status,
    headers: { 'Content-Type': 'application/json', ...retryHeaders(error) },
    body: JSON.stringify(jsonRpcError(error, null)),
  };
}

function reasonOf({ code, details }: ErrorBody): A2aReason | null {
  const { error } = details;
  if (isFault(error)) return null;
  if (typeof error === 'string' && isReason(error)) return error;
  if (code === 'SESSION_NOT_FOUND') return 'TASK_NOT_FOUND';
  return code === 'INVALID_REQUEST' || code === 'MISSING_FIELD' ? 'INVALID_PARAMS' : null;
}

/** Errors that neither JSON-RPC nor A2A has get the status of HTTP, which is outside of the reserved numbers. */
function numberOf(error: ErrorBody): number {
  const fault = error.details.error;
  if (isFault(fault)) return JSON_RPC_ERRORS[fault];
  const reason = reasonOf(error);
  if (reason) return A2A_ERRORS[reason].number;
  const { status } = errorCatalogue[error.code];
  return status === 500 ? RPC.internalError : status;
}

function detailsOf(error: ErrorBody): ErrorDetails {
  const { code, message, details } = error;
  const reason = reasonOf(error);
  const { error: _, ...shown } = details;
  const texts = Object.entries({ code, ...shown }).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const { field, issue } = details;
  return [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: reason ?? code,
      domain: reason ? A2A_DOMAIN : OWN_DOMAIN,
      metadata: Object.fromEntries(texts),
    },
    ...(typeof field === 'string'
      ? [
          {
            '@type': 'type.googleapis.com/google.rpc.BadRequest' as const,
            fieldViolations: [{ field, description: typeof issue === 'string' ? issue : message }],
          },
        ]
      : []),
  ];
}

function isFault(name: unknown): name is JsonRpcFault {
  return typeof name === 'string' && Object.hasOwn(JSON_RPC_ERRORS, name);
}

function isReason(text: string): text is A2aReason {
  return Object.hasOwn(A2A_ERRORS, text);
}
