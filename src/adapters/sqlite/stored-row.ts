import { z } from 'zod';
import type { Envelope } from '../../contract/envelope.ts';
import { SessionEvent } from '../../contract/events.ts';
import type { SessionId } from '../../contract/ids.ts';

const StoredRow = z.object({ seq: z.int(), time: z.int(), data: z.string() });

/** Parses one row of the log. The log has no holes, so the seq it must have is known. */
export function parseStoredRow(row: unknown, sessionId: SessionId, seq: number): Envelope {
  try {
    const stored = StoredRow.parse(row);
    if (stored.seq !== seq) throw new Error(`found seq ${stored.seq} in its place`);
    const event = SessionEvent.parse(JSON.parse(stored.data));
    return { sessionId, seq, time: stored.time, event };
  } catch (error) {
    throw new Error(`the event log is damaged: session ${sessionId}, seq ${seq} cannot be read`, {
      cause: error,
    });
  }
}
