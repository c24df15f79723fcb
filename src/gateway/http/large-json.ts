import type { HttpResponse } from '../../ports/web-server.ts';
import { jsonResponse, type ServedRequest } from './http-message.ts';
import { charactersIn, jsonPieces } from './json-pieces.ts';
import { textBody } from './text-body.ts';

const LARGE_CHARACTERS = 1024 * 1024;

/**
 * The response of `jsonResponse` for a body that may have hundreds of megabytes. A large one is written in pieces, as its client
 * reads: to write it at once would hold up everybody for seconds. What it takes in memory meanwhile counts for the client. Throws
 * if that is too much.
 */
export function largeJsonResponse<Body extends object = never>(
  body: NoInfer<Body>,
  { hold, use, context, credential }: ServedRequest,
): HttpResponse {
  if (charactersIn(body, LARGE_CHARACTERS) <= LARGE_CHARACTERS) return jsonResponse<Body>(body);
  use?.openStream();
  hold?.(charactersIn(body), context.rights ? context : null);
  const lost = credential?.lost;
  function* pieces(): Generator<string, void, void> {
    for (const piece of jsonPieces(body)) {
      lost?.throwIfAborted();
      yield piece;
    }
  }
  const headers = { 'Content-Type': 'application/json' };
  return { status: 200, headers, body: textBody(pieces()), stream: 'bytes' };
}
