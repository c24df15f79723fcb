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

/** The smallest first. */
export const HOLDERS: readonly LimitHolder[] = ['principal', 'tenant'];

/** A limit of each principal, and one of each tenant. `false` switches a limit off. */
export type PerHolder = Readonly<Record<LimitHolder, number | false>>;

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

/** The refusal of a client that has its whole share of what all clients share. */
export function fullShare(limit: ClientLimit, max: number, retrySeconds: number): ServiceError {
  return clientLimitExceeded(limit, { limit: max, resetTime: secondsFromNow(retrySeconds) });
}

interface FullService {
  readonly message: string;
  readonly reason: string;
  readonly limit: number;
  readonly suggestion?: string;
  readonly retrySeconds: number;
}

/** The refusal of any client when all clients together have everything. */
export function fullService({
  message,
  reason,
  limit,
  suggestion,
  retrySeconds: retryAfter,
}: FullService): ServiceError {
  const details = { reason, limit, ...(suggestion && { suggestion }), retryAfter };
  return new ServiceError('SERVICE_UNAVAILABLE', message, details);
}

/** When something that has no minute may be tried again, in seconds since the epoch. */
export function secondsFromNow(seconds: number): number {
  return Math.ceil(Date.now() / 1000) + seconds;
}
