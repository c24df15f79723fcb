import type { AuditEntry } from '../../core/access/audit-entry.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { LoggedEvent } from '../../core/log/events.ts';
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
      for (const envelope of page)
        for (const entry of entriesOf(envelope)) {
          const time = Date.parse(entry.time);
          if (time >= since && time < until && isWanted(entry, filter)) yield entry;
        }
      if (page.length < PAGE_EVENTS) break;
    }
  }
}

/** In a flood, the last one says how many there was no room for. It belongs to no tenant. */
function entriesOf({ event, time }: Envelope<LoggedEvent>): readonly AuditEntry[] {
  if (event.type !== 'audit.recorded') return [];
  const { entries, dropped } = event;
  return dropped === undefined ? entries : [...entries, droppedEntry(time, dropped)];
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
