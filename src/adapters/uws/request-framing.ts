import { ServiceError } from '../../core/errors.ts';

type Headers = ReadonlyMap<string, string>;

/**
 * Refuses a request whose headers leave the end of its body ambiguous; null when they do not. uWebSockets.js uses the
 * first of two lengths, treats an empty length as none, and every transfer coding as `chunked`. With a proxy that
 * reads them differently, that would allow request smuggling (RFC 9112, 6.3 and 11.2).
 *
 * @param headers repeated headers are joined with a comma.
 */
export function framingFault(headers: Headers): ServiceError | null {
  const length = headers.get('content-length');
  const coding = headers.get('transfer-encoding');
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return badFraming('Transfer-Encoding', coding, 'Send it once, as chunked, or a Content-Length instead.');
  if (length !== undefined && !/^\d+$/.test(length))
    return badFraming('Content-Length', length, 'Send it once, with the number of bytes of the body.');
  if (length !== undefined && coding !== undefined)
    return badFraming('Content-Length', `${length}, beside a Transfer-Encoding`, 'Send one of the two.');
  return null;
}

/** Like `framingFault`, for a WebSocket handshake, which must not have a body. */
export function handshakeFault(headers: Headers): ServiceError | null {
  const length = headers.get('content-length') ?? '0';
  if (isChunked(headers)) return badFraming('Transfer-Encoding', 'chunked', NO_BODY);
  if (/^\d+$/.test(length) && Number(length) > 0) return badFraming('Content-Length', length, NO_BODY);
  return framingFault(headers);
}

const NO_BODY = 'A WebSocket handshake has no body: leave the header out.';

export function isChunked(headers: Headers): boolean {
  return headers.get('transfer-encoding')?.toLowerCase() === 'chunked';
}

function badFraming(field: string, found: string, suggestion: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', `The header ${field} does not say where the body ends.`, {
    field,
    issue: found.trim() === '' ? 'it is empty' : `it is "${found}"`,
    suggestion,
  });
}
