/**
 * Half of a lease. The others wait for the locks of a node that freezes within a transaction, also for that of its lease.
 */
const IDLE_MS = 1_000;

/** SQL: the database ends the transaction if its client says nothing for this long. @param ms 0: never. */
export function idleLimit(ms = IDLE_MS): string {
  return `SET LOCAL idle_in_transaction_session_timeout = ${ms}`;
}
