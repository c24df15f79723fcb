import { z } from 'zod';
import type { ExportedFile } from '../../src/cli/transfer/exported-session.ts';
import { currentEvents } from '../../src/core/log/event-codec.ts';

/** A file `x.jsonl` with this content, which comes in pieces of so many bytes. */
export function exportedText(content: string | Uint8Array, pieceBytes = 64 * 1024): ExportedFile {
  const bytes = Buffer.from(content);
  async function* pieces() {
    for (let start = 0; start < bytes.length; start += pieceBytes)
      yield bytes.subarray(start, start + pieceBytes);
  }
  return { name: 'x.jsonl', chunks: pieces() };
}

/** An export of an older version as this one writes it. */
export function upgraded(content: string): string {
  const lines = content
    .trimEnd()
    .split('\n')
    .map((line) => OldLine.parse(JSON.parse(line)));
  const { version } = currentEvents;
  return lines
    .map(({ v, event, ...place }) => ({ v: version, ...place, event: currentEvents.parse(event, v) }))
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

const OldLine = z.strictObject({
  v: z.int(),
  sessionId: z.string(),
  seq: z.int(),
  time: z.int(),
  event: z.looseObject({ type: z.string() }),
});

/** Lines of an export of the session `s`, one for each event. */
export function exportedLines(events: readonly object[], v = currentEvents.version): string {
  return events
    .map((event, index) => JSON.stringify({ v, sessionId: 's', seq: index + 1, time: 1_000 + index, event }))
    .map((line) => `${line}\n`)
    .join('');
}
