import type { ModelFailure } from '../failures/model-failure.ts';
import { MAX_RETRY_AFTER_MS } from '../failures/refusal.ts';
import type { HttpAnswer } from './http-post.ts';

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

/** In milliseconds (`retry-after-ms`, OpenAI's own), seconds, or as a date; undefined when it is none of them. */
export function retryAfterIn(headers: HttpAnswer['headers']): number | undefined {
  const ms = numberIn(String(headers['retry-after-ms'] ?? ''));
  if (ms !== undefined && ms >= 0) return ms;
  const value = headers['retry-after'] ?? '';
  const seconds = numberIn(value);
  // A negative number is no date either, though `Date.parse` finds one in it.
  if (seconds !== undefined) return seconds >= 0 ? seconds * 1_000 : undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** An empty header is no zero. */
function numberIn(value: string): number | undefined {
  const number = Number(value);
  return value.trim() === '' || !Number.isFinite(number) ? undefined : number;
}
