import type { HttpAnswer } from './http-post.ts';
import type { ModelFailure } from './model-failure.ts';
import { MAX_RETRY_AFTER_MS } from './refusal.ts';

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 8_000;

/** Undefined when it is not worth waiting. Half of the wait is by chance, so that many clients do not come back at once. */
export function retryDelayMs(
  { isPassing, retryAfterMs }: ModelFailure,
  repeated: number,
): number | undefined {
  if (!isPassing) return undefined;
  if (retryAfterMs !== undefined) return retryAfterMs <= MAX_RETRY_AFTER_MS ? retryAfterMs : undefined;
  const most = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** repeated);
  return most * (1 - Math.random() / 2);
}

/** In milliseconds (`retry-after-ms`, OpenAI's own), seconds, or as a date. */
export function retryAfterIn(headers: HttpAnswer['headers']): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (ms >= 0) return ms;
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  const seconds = Number(value);
  if (seconds >= 0) return seconds * 1_000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
