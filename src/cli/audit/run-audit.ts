import type { AuditFilter } from '../../ports/audit.ts';
import { readAudit } from '../../runtime/access/audit-reading.ts';
import { parseAge } from '../keys/key-options.ts';
import { print, printLines } from '../log/print-lines.ts';
import { requestService } from '../service/request-service.ts';
import { withEventStore } from '../transfer/data-directory.ts';
import type { AuditFlags, AuditOptions } from './audit-command.ts';

/** Prints the entries that are wanted, oldest first. */
export async function runAudit({ log, wanted }: AuditOptions): Promise<void> {
  const filter = filterOf(wanted, Date.now());
  if (!('url' in log)) {
    await withEventStore(log.dataDir, 'read', (store) => printLines(readAudit(store, filter)));
    return;
  }
  if (filter.tenant !== undefined)
    throw new Error('--tenant: with --url, the entries are those of your own tenant');
  const { body } = await requestService(log, `api/audit?${queryOf(filter)}`);
  await print(body ?? []);
}

function filterOf({ since, until, principal, tenant, session }: AuditFlags, now: number): AuditFilter {
  return {
    ...(since !== undefined && { since: timeOf('--since', since, now) }),
    ...(until !== undefined && { until: timeOf('--until', until, now) }),
    ...{ principal, tenant, sessionId: session },
  };
}

const TIME = /^\d{4}-\d{2}-\d{2}(T.+)?$/;

/** @returns milliseconds since the epoch. */
function timeOf(option: string, text: string, now: number): number {
  if (!TIME.test(text)) return now - parseAge(option, text);
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new Error(`${option}: ${JSON.stringify(text)} is no time`);
  return time;
}

function queryOf({ since, until, principal, sessionId }: AuditFilter): URLSearchParams {
  const query = new URLSearchParams();
  if (since !== undefined) query.set('since', new Date(since).toISOString());
  if (until !== undefined) query.set('until', new Date(until).toISOString());
  if (principal !== undefined) query.set('principal', principal);
  if (sessionId !== undefined) query.set('session', sessionId);
  return query;
}
