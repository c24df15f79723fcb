import type { AuditEntry } from '../core/access/audit-entry.ts';

/** Selects entries of the audit trail. What is absent selects all. */
export interface AuditFilter {
  /** Milliseconds since the epoch, inclusive. */
  readonly since?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
  readonly tenant?: string | undefined;
  readonly principal?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** What is to be recorded. Its time is that of the call. */
export type AuditRecord = Omit<AuditEntry, 'time' | 'count'>;

/** Records who did what, and what was refused. */
export interface Audit {
  /** Returns at once. Equal entries within about a second become one with a count. */
  record(entry: AuditRecord): void;
  /** What was recorded until now, in the order of its seconds. */
  read(filter: AuditFilter): Promise<AsyncIterable<AuditEntry>>;
}
