import type { AuditFilter } from '../../ports/audit.ts';
import { readAudit } from '../../runtime/access/audit-reading.ts';
import { print, printLines } from '../log/print-lines.ts';
import { requestService, wholeBody } from '../service/request-service.ts';
import { askWithAuth } from '../service/unauthenticated-service.ts';
import { withEventStore } from '../transfer/stored-log.ts';
import type { AuditOptions } from './audit-command.ts';
import { auditFilter } from './audit-filter.ts';

/** Prints the entries that are wanted, oldest first. */
export async function runAudit({ log, wanted }: AuditOptions): Promise<void> {
  const filter = auditFilter(wanted, Date.now());
  if (!('url' in log)) {
    await withEventStore(log, 'read', (store) => printLines(readAudit(store, filter)));
    return;
  }
  if (filter.tenant !== undefined)
    throw new Error('--tenant: with --url, the entries are those of your own tenant');
  const response = await askWithAuth(log, () => requestService(log, `api/audit?${queryOf(filter)}`));
  await print(wholeBody(response, `the audit trail at ${log.url}`));
}

function queryOf({ since, until, principal, sessionId }: AuditFilter): URLSearchParams {
  const query = new URLSearchParams();
  if (since !== undefined) query.set('since', new Date(since).toISOString());
  if (until !== undefined) query.set('until', new Date(until).toISOString());
  if (principal !== undefined) query.set('principal', principal);
  if (sessionId !== undefined) query.set('session', sessionId);
  return query;
}
