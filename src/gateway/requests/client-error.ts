import { asServiceError, isFailure, type ServiceError } from '../../core/errors.ts';
import type { Logger } from '../../ports/logger.ts';

/** The error to send to a client. Unexpected errors are logged with their cause. */
export function clientError(
  thrown: unknown,
  log: Logger,
  fields: Readonly<Record<string, unknown>>,
  logMessage: string,
): ServiceError {
  const error = asServiceError(thrown);
  if (isFailure(error)) log.error({ ...fields, err: error.cause ?? error }, logMessage);
  return error;
}
