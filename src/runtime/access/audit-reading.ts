import type { AuditEntry, StoredAuditEntry } from '../../core/access/audit-entry.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { LoggedEvent } from '../../core/log/events.ts';
import { AUDIT_STREAMS, auditStream } from '../../core/log/streams.ts';
import type { AuditFilter } from '../../ports/audit.ts';
import type { EventStore } from '../../ports/event-store.ts';

const MAX_DAYS = 10_000;

/**
 * The entries in the order in which they were written, which is that of their seconds but for those that had to wait for the
 * log. Reads each day from the first one on, page by page: an entry may have been written at any later time.
 */
export async function* readAudit(
  store: Pick<EventStore, 'pages' | 'streamIds'>,
  filter: AuditFilter,
): AsyncGenerator<AuditEntry, void, void> {
  const { since = 0, until = Number.POSITIVE_INFINITY } = filter;
  const streams = (await store.streamIds(AUDIT_STREAMS, MAX_DAYS)).filter(
    (id) => id.startsWith(AUDIT_STREAMS) && id >= auditStream(since),
  );
  for (const stream of streams) {
    for await (const page of store.pages(stream, 0))
      for (const entry of page.flatMap(entriesOf)) {
        const time = Date.parse(entry.time);
        if (time >= since && time < until && isWanted(entry, filter)) yield entry;
      }
  }
}

/** In a flood, the last one says how many there was no room for. It belongs to no tenant. */
function entriesOf({ event, time }: Envelope<LoggedEvent>): readonly AuditEntry[] {
  if (event.type !== 'audit.recorded') return [];
  const { dropped } = event;
  const entries = event.entries
    .flatMap(ofEachSession)
    .sort((a, b) => Date.parse(a.time) - Date.parse(b.time));
  return dropped === undefined ? entries : [...entries, droppedEntry(time, dropped)];
}

function ofEachSession({ others = [], ...first }: StoredAuditEntry): AuditEntry[] {
  const { count: _, ...shared } = first;
  const begin = Date.parse(first.time);
  const rest = others.map(([ms, sessionId, count]) => {
    const time = new Date(begin + ms).toISOString();
    return { ...shared, time, sessionId, ...(count > 1 && { count }) };
  });
  return [first, ...rest];
}

function droppedEntry(written: number, count: number): AuditEntry {
  const time = new Date(written).toISOString();
  return { time, what: 'audit.dropped', outcome: 'RATE_LIMIT_EXCEEDED', ...(count > 1 && { count }) };
}

function isWanted(entry: AuditEntry, { tenant, principal, sessionId }: AuditFilter): boolean {
  return (
    (tenant === undefined || entry.tenant === tenant) &&
    (principal === undefined || entry.principal === principal) &&
    (sessionId === undefined || entry.sessionId === sessionId)
  );
}
