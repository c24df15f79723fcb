import { z } from 'zod';
import { StorageFullError } from './storage-full.ts';

/**
 * Every error that may cross the wire, with its HTTP status and the condition that produces it.
 * docs/protocol.md repeats this table; a test holds the two together.
 */
export const errorCatalogue = {
  INVALID_REQUEST: {
    status: 400,
    condition: 'Malformed JSON, wrong Content-Type, a bad value or an unknown URL.',
  },
  MISSING_FIELD: { status: 400, condition: 'A required field is absent; `details.field` names it.' },
  UNAUTHORIZED: { status: 401, condition: 'Authentication required. Reserved: not emitted today.' },
  FORBIDDEN: { status: 403, condition: 'The Host or Origin header is not one this service answers to.' },
  SERVER_NOT_FOUND: { status: 404, condition: 'MCP server unknown; `details.serverId`.' },
  TOOL_NOT_FOUND: {
    status: 404,
    condition: 'The server offers no such tool; `details.toolName`, `details.serverId`.',
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    condition: 'A limit was exceeded; `details.limit`, `remaining`, `resetTime`.',
  },
  TOOL_EXECUTION_FAILED: {
    status: 500,
    condition: 'The tool or its server failed; `details.toolName`, `serverId`, `reason`.',
  },
  AGENT_ERROR: {
    status: 500,
    condition: 'The agent could not answer; `details.reason` says why and what to do.',
  },
  INTERNAL_ERROR: { status: 500, condition: 'An unexpected error; the log has the cause.' },
  SESSION_NOT_FOUND: { status: 404, condition: 'There is no such session; `details.sessionId`.' },
  APPROVAL_NOT_FOUND: {
    status: 404,
    condition: 'No tool call of that id waits for approval; `details.callId`.',
  },
  SESSION_BUSY: {
    status: 409,
    condition: 'A turn is running and the message asked not to wait (`whenBusy: reject`).',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    condition: 'The idempotency key was used before, with another payload; `details.key`.',
  },
  OUTCOME_UNKNOWN: {
    status: 409,
    condition:
      'A request with this idempotency key was begun, and nobody knows whether it took effect; `details.key`.',
  },
  TURN_CANCELLED: {
    status: 409,
    condition: 'The turn was cancelled before it was answered; `details.reason`.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    condition:
      'The session queue or the disk is full, or the service is stopping or not ready; `details.retryAfter` in seconds.',
  },
  INVALID_MESSAGE_TYPE: { status: 400, condition: 'WebSocket only: the frame has an unsupported `type`.' },
} as const satisfies Record<string, { status: number; condition: string }>;

export type ErrorCode = keyof typeof errorCatalogue;
export const ErrorCode = z.enum(Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]]);

/** What a client is told: the `error` of a REST envelope, the `data` of an `error` frame. */
export const ErrorBody = z.object({
  code: ErrorCode,
  message: z.string(),
  details: z.record(z.string(), z.unknown()),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

/**
 * The one error that may be shown to a client. Message and details must hold no secret;
 * `cause` is for the log alone.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ServiceError';
    this.code = code;
    this.details = details;
  }

  /** The error that a body was made of, or one like it. */
  static of({ code, message, details }: ErrorBody): ServiceError {
    return new ServiceError(code, message, details);
  }

  get status(): number {
    return errorCatalogue[this.code].status;
  }

  get body(): ErrorBody {
    return { code: this.code, message: this.message, details: this.details };
  }
}

function storageFull(cause: StorageFullError): ServiceError {
  const message = 'The service has no space left to record this. Try again later.';
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    message,
    { reason: 'the disk of the service is full', retryAfter: 10 },
    cause,
  );
}

/** Whether an operator is to hear of it: nobody refused anything, something failed. */
export function isFailure({ code, cause }: ServiceError): boolean {
  return code === 'INTERNAL_ERROR' || cause instanceof StorageFullError;
}

/** Turns whatever was thrown into the one error that may cross the wire; the original stays as `cause`. */
export function asServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  if (thrown instanceof StorageFullError) return storageFull(thrown);
  return new ServiceError('INTERNAL_ERROR', 'An unexpected error occurred.', {}, thrown);
}

/** What is said by whatever was thrown. Not to be shown to a client: it may hold anything. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

export function serviceStopping(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The service is stopping. Try again in a moment.', {
    reason: 'the service is stopping',
    retryAfter: 5,
  });
}
