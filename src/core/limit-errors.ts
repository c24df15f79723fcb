import { ServiceError } from './errors.ts';

/** A limit that is used up. `resetTime` is when the client may try again, in seconds since the epoch. */
interface UsedUp {
  readonly limit: number;
  readonly resetTime: number;
}

export function limitExceeded(what: string, { limit, resetTime }: UsedUp): ServiceError {
  return new ServiceError('RATE_LIMIT_EXCEEDED', `Limit exceeded: ${what}.`, {
    limit,
    remaining: 0,
    resetTime,
  });
}

/** Whose limit it is. */
export type LimitHolder = 'principal' | 'tenant';

/** A limit of one client, or of all clients of its tenant together. */
export interface ClientLimit {
  /** As the setting is called, such as `requestsPerMinute`. */
  readonly name: string;
  readonly of: LimitHolder;
  /** What there is too much of, such as `requests per minute`. */
  readonly what: string;
  readonly suggestion?: string;
}

export function clientLimitExceeded({ name, of, what, suggestion }: ClientLimit, used: UsedUp): ServiceError {
  const { code, message, details } = limitExceeded(`${used.limit} ${what} per ${of}`, used);
  return new ServiceError(code, message, { ...details, name, of, ...(suggestion && { suggestion }) });
}

/** When something that has no minute may be tried again, in seconds since the epoch. */
export function secondsFromNow(seconds: number): number {
  return Math.ceil(Date.now() / 1000) + seconds;
}
