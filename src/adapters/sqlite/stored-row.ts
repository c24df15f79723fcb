import { z } from 'zod';
import type { Envelope } from '../../contract/envelope.ts';
import { LoggedEvent } from '../../contract/events.ts';
import type { SessionId } from '../../contract/ids.ts';

const StoredRow = z.object({ seq: z.int(), time: z.int(), data: z.string() });

/** Parses one row of the log. What is in it is what was stored: its checksum was verified. */
export function parseStoredRow(row: unknown, sessionId: SessionId, seq: number): Envelope<LoggedEvent> {
  try {
    const stored = StoredRow.parse(row);
    if (stored.seq !== seq) throw new Error(`found seq ${stored.seq} in its place`);
    const event = LoggedEvent.parse(JSON.parse(stored.data));
    return { sessionId, seq, time: stored.time, event };
  } catch (error) {
    const message = `session ${sessionId}, seq ${seq} is whole, but no event that this agent-service knows`;
    throw new Error(`${message}; run the version that wrote it`, { cause: error });
  }
}
