/** The `code` of the error. */
export const LOG_IN_USE = 'LOG_IN_USE';

/** Another service has the lease of the log, and renews it. This file loads no driver. */
export class LogInUseError extends Error {
  override readonly name = 'LogInUseError';
  readonly code = LOG_IN_USE;
}
