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

/** Records who did what, and what was refused. */
export interface Audit {
  /** Returns at once. Equal entries within about a second become one with a count. */
  record(entry: Omit<AuditEntry, 'time' | 'count'>): void;
  /** What was recorded until now, in the order of its seconds. */
  read(filter: AuditFilter): Promise<AsyncIterable<AuditEntry>>;
}
