import type { Account } from '../service/account.ts';

/** How long before its end a key is renewed. */
const BEFORE_MS = 60_000;
/** The longest time that timers of browsers can wait. */
const MAX_MS = 2 ** 31 - 1;

/**
 * When to renew the key, in milliseconds from now: a minute before its end, and a short-lived one at half of its time.
 * Null for a key that does not end, or not in this month.
 */
export function renewalDelayMs({
  expiresAt,
  timestamp,
}: Pick<Account, 'expiresAt' | 'timestamp'>): number | null {
  if (expiresAt === undefined) return null;
  const leftMs = Math.max(0, Date.parse(expiresAt) - Date.parse(timestamp));
  const delayMs = leftMs - Math.min(BEFORE_MS, leftMs / 2);
  return delayMs > MAX_MS ? null : delayMs;
}
