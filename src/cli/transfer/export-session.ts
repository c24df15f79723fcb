import type { SessionId } from '../../core/ids.ts';
import { currentEvents } from '../../core/log/event-codec.ts';
import { formatExportLine } from '../../core/log/export-line.ts';
import type { EventStore } from '../../ports/event-store.ts';
import { readSession } from './stored-log.ts';

/** A session as JSON Lines, one envelope a line. */
export async function* exportSession(
  store: EventStore,
  sessionId: SessionId,
): AsyncGenerator<string, void, void> {
  for await (const envelope of readSession(store, sessionId)) yield formatExportLine(envelope, currentEvents);
}
