import { asServiceError, isFailure, type ServiceError } from '../../core/errors.ts';
import type { Log } from '../../ports/log.ts';

/** The error that a client is told. What nobody refused is in the log, with its cause. */
export function clientError(
  thrown: unknown,
  log: Log,
  fields: Readonly<Record<string, unknown>>,
  what: string,
): ServiceError {
  const error = asServiceError(thrown);
  if (isFailure(error)) log.error({ ...fields, err: error.cause ?? error }, what);
  return error;
}
