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

/** A limit on size has no time window: `resetTime` is now, because something smaller may be sent at once. */
export function tooLarge(what: string, limitBytes: number): ServiceError {
  const resetTime = Math.ceil(Date.now() / 1000);
  return limitExceeded(`${what} of at most ${limitBytes} bytes`, { limit: limitBytes, resetTime });
}
