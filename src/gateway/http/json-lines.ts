import type { HttpResponse } from '../../ports/web-server.ts';

/** JSON Lines. */
export const JSON_LINES = 'application/x-ndjson';

/** Lines are sent together up to this length. */
const CHUNK_CHARACTERS = 64 * 1024;

/** @param lines each with its line break. If they fail, the answer is broken off, so that its client can tell. */
export function jsonLines(lines: AsyncIterable<string>): HttpResponse {
  const body = ReadableStream.from(chunksOf(lines));
  return { status: 200, headers: { 'Content-Type': JSON_LINES }, body, stream: 'bytes' };
}

async function* chunksOf(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array, void, void> {
  let chunk = '';
  for await (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield Buffer.from(chunk);
    chunk = '';
  }
  if (chunk !== '') yield Buffer.from(chunk);
}
