import { ANONYMOUS } from '../../core/request/request-context.ts';
import type { AuditFilter } from '../../ports/audit.ts';
import { parseAge } from '../keys/key-options.ts';
import type { AuditFlags } from './audit-command.ts';

/** Which entries the flags select. @param now milliseconds since the epoch. */
export function auditFilter(
  { since, until, principal, tenant, session }: AuditFlags,
  now: number,
): AuditFilter {
  const from = since === undefined ? undefined : timeOf('--since', since, now);
  const to = until === undefined ? undefined : timeOf('--until', until, now);
  if (from !== undefined && to !== undefined && from >= to)
    throw new Error(
      `--until: found ${JSON.stringify(until)}; expected a time after that of --since, which is ${JSON.stringify(since)}`,
    );
  requirePrincipal(principal);
  return {
    ...(from !== undefined && { since: from }),
    ...(to !== undefined && { until: to }),
    principal,
    tenant,
    sessionId: session,
  };
}

/** A name that no principal can have would find nothing, as if nothing had happened. */
function requirePrincipal(principal: string | undefined): void {
  if (principal === undefined || principal.includes(':') || principal === ANONYMOUS) return;
  throw new Error(
    `--principal: found ${JSON.stringify(principal)}; expected a principal such as key:${principal}, as the entries have it`,
  );
}

const TIME = /^(\d{4}-\d{2}-\d{2})(?:T.+)?$/;

/** @returns milliseconds since the epoch. */
function timeOf(option: string, text: string, now: number): number {
  const day = TIME.exec(text)?.[1];
  if (day === undefined) return now - parseAge(option, text);
  const time = Date.parse(text);
  if (Number.isNaN(time) || !isInCalendar(day))
    throw new Error(`${option}: ${JSON.stringify(text)} is no time`);
  return time;
}

/** `Date.parse` takes February 30 for March 2. */
function isInCalendar(day: string): boolean {
  const start = Date.parse(day);
  return !Number.isNaN(start) && new Date(start).toISOString().startsWith(day);
}
