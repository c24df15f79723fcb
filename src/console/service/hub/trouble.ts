import { reconnectDelayMs } from '../../../client/reconnect-delay.ts';
import { ApiError, errorText, unreachable } from '../api-error.ts';
import type { Trouble } from './hub-messages.ts';

/** The service has refused for a reason that only a person can change. */
const LASTING_MS = 30_000;
const LASTING: readonly string[] = ['UNAUTHORIZED', 'FORBIDDEN'];
const CROWDED = 'RATE_LIMIT_EXCEEDED';
/** Refusals that may pass. */
const PASSING: readonly string[] = ['UNREACHABLE', CROWDED, 'SERVICE_UNAVAILABLE'];

/** Whether the service has no room for another stream. */
export function isCrowded(error: unknown): boolean {
  return codeOf(error) === CROWDED;
}

/** Whether the service wants to know who this is. */
export function isUnauthorized(error: unknown): boolean {
  return codeOf(error) === 'UNAUTHORIZED';
}

/** Whether the same request may be answered later. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiError && PASSING.includes(error.code);
}

/** When to open a stream again after it failed for the given number of times in a row. */
export function retryDelayMs(error: unknown, failures: number): number {
  const backOffMs = reconnectDelayMs(failures, Math.random());
  const code = codeOf(error);
  if (code !== undefined && LASTING.includes(code)) return LASTING_MS;
  if (!(error instanceof ApiError) || code !== CROWDED) return backOffMs;
  // Not `resetTime`, which is of the clock of the service: that of this machine may be an hour behind.
  const { retryAfter } = error.details;
  return typeof retryAfter === 'number' ? Math.max(backOffMs, retryAfter * 1_000) : backOffMs;
}

/** @param delayMs until the next attempt. */
export function troubleOf(error: unknown, delayMs: number): Trouble {
  const isUnreachable = error instanceof Error && error.name === 'UnreachableError';
  return { message: errorText(isUnreachable ? unreachable(error) : error), retryAt: Date.now() + delayMs };
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
