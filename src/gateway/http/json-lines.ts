import type { HttpResponse } from '../../ports/web-server.ts';
import { textBody } from './text-body.ts';

/** JSON Lines. */
export const JSON_LINES = 'application/x-ndjson';

/** @param lines each with its line break. If they fail, the answer is broken off, so that its client can tell. */
export function jsonLines(lines: AsyncIterable<string>): HttpResponse {
  const headers = { 'Content-Type': JSON_LINES };
  return { status: 200, headers, body: textBody(lines), stream: 'bytes' };
}
