import { asServiceError, isFailure, levelOfFailure, type ServiceError } from '../../core/errors.ts';
import type { Logger } from '../../ports/logger.ts';

/** The error to send to a client, without credentials. Unexpected errors are logged with their cause. */
export function clientError(
  thrown: unknown,
  log: Logger,
  fields: Readonly<Record<string, unknown>>,
  logMessage: string,
): ServiceError {
  const error = asServiceError(thrown);
  const err = error.cause ?? error;
  if (isFailure(error)) log[levelOfFailure(err)]({ ...fields, err }, logMessage);
  return error.withoutTokens;
}
