import type { ExportedFile } from '../../src/app/transfer/exported-session.ts';

/** A file `x.jsonl` with this content, which comes in pieces of so many bytes. */
export function exportedText(content: string | Uint8Array, pieceBytes = 64 * 1024): ExportedFile {
  const bytes = Buffer.from(content);
  async function* pieces() {
    for (let start = 0; start < bytes.length; start += pieceBytes)
      yield bytes.subarray(start, start + pieceBytes);
  }
  return { name: 'x.jsonl', chunks: pieces() };
}

/** Lines of an export of the session `s`, one for each event. */
export function exportedLines(events: readonly object[], v = 1): string {
  return events
    .map((event, index) => JSON.stringify({ v, sessionId: 's', seq: index + 1, time: 1_000 + index, event }))
    .map((line) => `${line}\n`)
    .join('');
}
