import type { AuditEntry } from '../../core/access/audit-entry.ts';
import { AUDIT_STREAMS, auditStream } from '../../core/log/streams.ts';
import type { AuditFilter } from '../../ports/audit.ts';
import type { EventStore } from '../../ports/event-store.ts';

const MOST_DAYS = 10_000;
const PAGE_EVENTS = 50;

/** The entries in the order of their seconds. Reads the days that matter, page by page. */
export async function* readAudit(
  store: Pick<EventStore, 'read' | 'streamIds'>,
  filter: AuditFilter,
): AsyncGenerator<AuditEntry, void, void> {
  const { since = 0, until = Number.POSITIVE_INFINITY } = filter;
  // An event has the entries of the second before it, which may be of the day before.
  const streams = (await store.streamIds(AUDIT_STREAMS, MOST_DAYS)).filter(
    (id) => id.startsWith(AUDIT_STREAMS) && id >= auditStream(since),
  );
  for (const stream of streams) {
    for (let after = 0; ; after += PAGE_EVENTS) {
      const page = await store.read(stream, after, PAGE_EVENTS);
      for (const { event } of page)
        if (event.type === 'audit.recorded')
          for (const entry of event.entries) {
            const time = Date.parse(entry.time);
            if (time >= since && time < until && isWanted(entry, filter)) yield entry;
          }
      if (page.length < PAGE_EVENTS) break;
    }
  }
}

function isWanted(entry: AuditEntry, { tenant, principal, sessionId }: AuditFilter): boolean {
  return (
    (tenant === undefined || entry.tenant === tenant) &&
    (principal === undefined || entry.principal === principal) &&
    (sessionId === undefined || entry.sessionId === sessionId)
  );
}
