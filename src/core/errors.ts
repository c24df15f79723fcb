import { z } from 'zod';
import { withoutTokens } from './access/shown-tokens.ts';
import { FencedError } from './log/fenced.ts';
import { mayBeStored, StorageAwayError } from './log/storage-away.ts';
import { StorageFullError } from './log/storage-full.ts';
import { StoreClosedError } from './log/store-closed.ts';

/** The codes of errors. `src/wire/error-catalogue.ts` has the meaning and the HTTP status of each. */
export const ErrorCode = z.enum([
  'INVALID_REQUEST',
  'MISSING_FIELD',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'SERVER_NOT_FOUND',
  'TOOL_NOT_FOUND',
  'RATE_LIMIT_EXCEEDED',
  'TOOL_EXECUTION_FAILED',
  'AGENT_ERROR',
  'INTERNAL_ERROR',
  'SESSION_NOT_FOUND',
  'APPROVAL_NOT_FOUND',
  'CALL_NOT_FOUND',
  'INPUT_NOT_FOUND',
  'API_KEY_NOT_FOUND',
  'AGENT_NOT_FOUND',
  'GRANT_NOT_FOUND',
  'SESSION_BUSY',
  'IDEMPOTENCY_KEY_REUSED',
  'OUTCOME_UNKNOWN',
  'TURN_CANCELLED',
  'SERVICE_UNAVAILABLE',
  'INVALID_MESSAGE_TYPE',
]);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** An error as clients receive it: the `error` of a REST envelope, or the `data` of an `error` frame. */
export const ErrorBody = z.object({
  code: ErrorCode,
  message: z.string(),
  details: z.record(z.string(), z.unknown()),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

/**
 * The only error that is shown to clients. Message and details must hold no secret. Clients never see `cause`; it is
 * for the operator's log.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
  declare readonly cause?: unknown;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ServiceError';
    this.code = code;
    this.details = details;
  }

  /** Makes the error again from its body. */
  static of({ code, message, details }: ErrorBody): ServiceError {
    return new ServiceError(code, message, details);
  }

  /** The same error without the credentials that a client has sent in place of a name. */
  get withoutTokens(): ServiceError {
    let isSame = true;
    const text = JSON.stringify(this.body, (_, value: unknown) => {
      if (typeof value !== 'string') return value;
      const shown = withoutTokens(value);
      isSame &&= shown === value;
      return shown;
    });
    if (isSame) return this;
    const { code, message, details } = ErrorBody.parse(JSON.parse(text));
    return new ServiceError(code, message, details, this.cause);
  }

  get body(): ErrorBody {
    return { code: this.code, message: this.message, details: this.details };
  }
}

const DATABASE_AWAY = 'the database of the service cannot be reached';

/** The log cannot be written for now. */
function notRecorded(reason: string, retryAfter: number, cause: Error): ServiceError {
  const message = 'The service cannot record this now. Try again later.';
  return new ServiceError('SERVICE_UNAVAILABLE', message, { reason, retryAfter }, cause);
}

/** The log cannot be read for now. */
function notRead(cause: Error): ServiceError {
  const message = 'The service cannot read this now. Try again later.';
  return new ServiceError('SERVICE_UNAVAILABLE', message, { reason: DATABASE_AWAY, retryAfter: 2 }, cause);
}

/** The log was lost while it was being written. */
function maybeRecorded(cause: Error): ServiceError {
  return outcomeUnknown({ reason: 'the database of the service was lost while this was recorded' }, cause);
}

/** For a request that may or may not have been executed. */
export function outcomeUnknown(
  details: { readonly key?: string; readonly reason: string; readonly suggestion?: string },
  cause?: Error,
): ServiceError {
  const { suggestion = 'See whether it took effect before you send it again.' } = details;
  return new ServiceError(
    'OUTCOME_UNKNOWN',
    'Nobody knows whether this request took effect.',
    { ...details, suggestion },
    cause,
  );
}

/** Whether the service itself failed, so that the operator must hear of it. Other errors refuse a request. */
export function isFailure({ code, cause }: ServiceError): boolean {
  return code === 'INTERNAL_ERROR' || isStorageFailure(cause);
}

/** Whether the disk of the log is full, or its database away. */
export function isStorageFailure(cause: unknown): cause is StorageFullError | StorageAwayError {
  return cause instanceof StorageFullError || cause instanceof StorageAwayError;
}

/**
 * The level at which to log a failure. The store itself logs once that the database is away, and the service that it stops;
 * each request that fails for that reason needs no further error line.
 */
export function levelOfFailure(cause: unknown): 'debug' | 'error' {
  return cause instanceof StorageAwayError || cause instanceof StoreClosedError ? 'debug' : 'error';
}

/** Turns a thrown value into an error for clients. Unexpected values become the `cause` of an `INTERNAL_ERROR`. */
export function asServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  if (thrown instanceof StorageFullError) return notRecorded('the disk of the service is full', 10, thrown);
  if (mayBeStored(thrown)) return maybeRecorded(thrown);
  if (thrown instanceof StorageAwayError && thrown.isReading) return notRead(thrown);
  if (thrown instanceof StorageAwayError) return notRecorded(DATABASE_AWAY, 2, thrown);
  if (thrown instanceof FencedError)
    return notRecorded('another node has taken over what this one was to record', 2, thrown);
  if (thrown instanceof StoreClosedError) return requestInterrupted();
  return new ServiceError('INTERNAL_ERROR', 'An unexpected error occurred.', {}, thrown);
}

/** Ends an answer that has begun. */
export function answerCutOff(): ServiceError {
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    'The service is stopping, and this answer is not complete.',
    {
      retryAfter: 5,
    },
  );
}

/** For a request that may have taken effect, and that the service does not answer any more. */
export function requestInterrupted(): ServiceError {
  return new ServiceError('OUTCOME_UNKNOWN', 'The service has stopped before it could answer.', {
    reason: 'a message that was accepted is in the log, and its turn goes on after the next start',
    suggestion: 'Look at the session before you send the request again.',
  });
}

/** Nobody reads it. */
export function clientLeft(): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The client left before the end of its request.');
}

export function serviceStopping(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The service is stopping. Try again in a moment.', {
    reason: 'the service is stopping',
    retryAfter: 5,
  });
}
