import { type BackOff, retryDelayMs } from '../../timing/retry-delay.ts';

/** What an answer means for a notification. `refused`: it is dropped, and the next one is sent. `gone`: nobody wants any more. */
export type Verdict = 'delivered' | 'refused' | 'gone' | 'again';

/** At most so often, and so long, one notification is sent again. */
export const MAX_TRIES = 15;
export const MAX_RETRY_MS = 60 * 60_000;

/** 0.5 s to 1 s, then twice as long each time, up to five minutes. */
const BACK_OFF: BackOff = { firstMs: 1_000, mostMs: 5 * 60_000, jitter: 0.5 };

/** Request Timeout, Too Early and Too Many Requests: the receiver may take it later. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429]);

export function verdictOn(status: number): Verdict {
  if (status >= 200 && status < 300) return 'delivered';
  if (status === 410) return 'gone';
  return status >= 500 || LATER.has(status) ? 'again' : 'refused';
}

/** One notification that has not arrived yet. */
export interface Attempts {
  /** In a row, 1 after the first. */
  readonly failures: number;
  /** When it was sent first: milliseconds since the epoch. */
  readonly since: number;
  /** As the receiver sent it. */
  readonly retryAfter?: string | undefined;
}

/** How long to wait before the next try, in milliseconds. Null: there is no next one. */
export function nextTryMs(
  { failures, since, retryAfter }: Attempts,
  now: number,
  random: () => number = Math.random,
): number | null {
  if (failures >= MAX_TRIES) return null;
  const waitMs = Math.max(retryDelayMs(failures, random, BACK_OFF), retryAfterMs(retryAfter, now));
  return now + waitMs - since > MAX_RETRY_MS ? null : waitMs;
}

/** The wait that the header asks for, in seconds or until a date. 0 if it has neither. */
function retryAfterMs(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}
