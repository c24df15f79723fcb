import { type BackOff, retryDelayMs } from '../../timing/retry-delay.ts';
import type { ModelFailure } from '../failures/model-failure.ts';
import { MAX_RETRY_AFTER_MS } from '../failures/refusal.ts';
import type { HttpAnswer } from './http-post.ts';

const BACK_OFF: BackOff = { firstMs: 500, mostMs: 8_000, jitter: 0.5 };

/**
 * How long to wait before a failed request is sent again; undefined if it should not be sent again.
 *
 * @param retries sent so far, 0 after the first failure.
 */
export function modelRetryDelayMs(
  { isPassing, retryAfterMs }: ModelFailure,
  retries: number,
): number | undefined {
  if (!isPassing) return undefined;
  if (retryAfterMs !== undefined) return retryAfterMs <= MAX_RETRY_AFTER_MS ? retryAfterMs : undefined;
  return retryDelayMs(retries + 1, Math.random, BACK_OFF);
}

/**
 * The wait in milliseconds that the headers ask for: `retry-after-ms` (OpenAI), or `retry-after` in seconds or as a
 * date. Undefined without a readable one.
 */
export function retryAfterIn(headers: HttpAnswer['headers']): number | undefined {
  const ms = numberIn(String(headers['retry-after-ms'] ?? ''));
  if (ms !== undefined && ms >= 0) return ms;
  const value = headers['retry-after'] ?? '';
  const seconds = numberIn(value);
  // `Date.parse` would read a negative number as a date.
  if (seconds !== undefined) return seconds >= 0 ? seconds * 1_000 : undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** `Number` would read an empty header as 0. */
function numberIn(value: string): number | undefined {
  const number = Number(value);
  return value.trim() === '' || !Number.isFinite(number) ? undefined : number;
}
