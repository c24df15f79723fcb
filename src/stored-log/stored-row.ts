import { z } from 'zod';
import type { SessionId } from '../core/ids.ts';
import type { Envelope } from '../core/log/envelope.ts';
import { type EventCodec, NewerEventError } from '../core/log/event-codec.ts';
import type { LoggedEvent } from '../core/log/events.ts';
import type { RecordedEvent } from '../core/log/recorded-event.ts';

/** Events as they are sent to the thread. */
export interface EncodedEvents {
  readonly types: readonly string[];
  /** One JSON text per event. */
  readonly data: readonly string[];
}

export function encodeAll(recorded: readonly RecordedEvent[], codec: EventCodec): EncodedEvents {
  return { types: recorded.map(({ event }) => event.type), data: recorded.map((one) => codec.encode(one)) };
}

const StoredRow = z.object({ seq: z.int(), time: z.int(), data: z.string() });

/** Parses one row of the log, whose hash was verified by the thread. */
export function parseStoredRow(
  row: unknown,
  sessionId: SessionId,
  seq: number,
  codec: EventCodec,
): Envelope<LoggedEvent> {
  try {
    const stored = StoredRow.parse(row);
    if (stored.seq !== seq) throw new Error(`found seq ${stored.seq} in its place`);
    return { sessionId, seq, time: stored.time, ...codec.decode(stored.data) };
  } catch (error) {
    const reason =
      error instanceof NewerEventError
        ? error.message
        : 'is undamaged, but this agent-service does not know its event; run the version that wrote it';
    throw new Error(`session ${sessionId}, seq ${seq} ${reason}`, { cause: error });
  }
}
