import { ServiceError } from './errors.ts';

/** @param resetTime when the client may try again, in seconds since the epoch. */
export function limitExceeded(
  what: string,
  { limit, resetTime }: { readonly limit: number; readonly resetTime: number },
): ServiceError {
  return new ServiceError('RATE_LIMIT_EXCEEDED', `Limit exceeded: ${what}.`, {
    limit,
    remaining: 0,
    resetTime,
  });
}
