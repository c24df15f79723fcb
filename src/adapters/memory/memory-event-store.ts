import type { Envelope } from '../../contract/envelope.ts';
import { SessionEvent } from '../../contract/events.ts';
import type { SessionId } from '../../contract/ids.ts';
import { type EventStore, StaleVersionError } from '../../ports/event-store.ts';

interface Row {
  readonly time: number;
  readonly data: string;
}

/**
 * An event store that forgets everything with the process: for tests and benches.
 * Events are kept as text, so nobody can change the log through an object it appended or read, and what
 * comes back went through the same parse as from a disk.
 */
export function memoryEventStore(clock: () => number = Date.now): EventStore {
  const sessions = new Map<SessionId, Row[]>();
  let closed = false;

  async function append(sessionId: SessionId, expectedSeq: number, events: readonly SessionEvent[]) {
    if (closed) throw new Error('the event store is closed');
    const rows = sessions.get(sessionId) ?? [];
    if (rows.length !== expectedSeq) throw new StaleVersionError(sessionId, expectedSeq, rows.length);
    const time = clock();
    // All are encoded before one is stored: an event that cannot be encoded leaves no trace.
    const encoded = events.map((event) => ({ time, data: JSON.stringify(event) }));
    if (encoded.length > 0) sessions.set(sessionId, rows);
    for (const row of encoded) rows.push(row);
    return events.map((event, index) => ({ sessionId, seq: expectedSeq + 1 + index, time, event }));
  }

  async function read(sessionId: SessionId, afterSeq: number, limit = Infinity): Promise<Envelope[]> {
    if (closed) throw new Error('the event store is closed');
    const rows = sessions.get(sessionId) ?? [];
    return rows.slice(afterSeq, afterSeq + limit).map(({ time, data }, index) => ({
      sessionId,
      seq: afterSeq + 1 + index,
      time,
      event: SessionEvent.parse(JSON.parse(data)),
    }));
  }

  async function dispose(): Promise<void> {
    closed = true;
  }

  return { append, read, [Symbol.asyncDispose]: dispose };
}
