import type { Envelope } from './envelope.ts';
import { type EventCodec, LOG_FORMAT } from './event-codec.ts';

/** The line of an export for an event: its envelope, with the version of the event's type in the metadata. */
export function formatExportLine(envelope: Envelope, codec: EventCodec): string {
  const { sessionId, seq, time, event } = envelope;
  return `${JSON.stringify({ v: LOG_FORMAT, sessionId, seq, time, meta: codec.stored(envelope), event })}\n`;
}
