import { z } from 'zod';
import type { ExportedFile } from '../../../src/cli/transfer/exported-session.ts';
import { currentEvents, LOG_FORMAT } from '../../../src/core/log/event-codec.ts';

/** A file `x.jsonl` with this content, which comes in pieces of so many bytes. */
export function exportedText(content: string | Uint8Array, pieceBytes = 64 * 1024): ExportedFile {
  const bytes = Buffer.from(content);
  async function* pieces() {
    for (let start = 0; start < bytes.length; start += pieceBytes)
      yield bytes.subarray(start, start + pieceBytes);
  }
  return { name: 'x.jsonl', chunks: pieces() };
}

/** An export in an older format as this version writes it. */
export function upgraded(content: string): string {
  const lines = content
    .trimEnd()
    .split('\n')
    .map((line) => OldLine.parse(JSON.parse(line)));
  return lines
    .map(({ v, event: older, meta: stored, ...place }) => {
      const recorded = currentEvents.parse(older, stored, v);
      return { v: LOG_FORMAT, ...place, meta: currentEvents.stored(recorded), event: recorded.event };
    })
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

const OldLine = z.strictObject({
  v: z.int(),
  sessionId: z.string(),
  seq: z.int(),
  time: z.int(),
  meta: z.unknown().optional(),
  event: z.looseObject({ type: z.string() }),
});

/** Lines of an export of the session `s`, one for each event. `version` is that of the events' types. */
export function exportedLines(events: readonly object[], v: number = LOG_FORMAT, version = 1): string {
  return events
    .map((event, index) => {
      const place = { v, sessionId: 's', seq: index + 1, time: 1_000 + index };
      return JSON.stringify({ ...place, ...(v >= 3 && { meta: { version } }), event });
    })
    .map((line) => `${line}\n`)
    .join('');
}
