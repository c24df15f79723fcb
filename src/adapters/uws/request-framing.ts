import { ServiceError } from '../../core/errors.ts';

type Headers = ReadonlyMap<string, string>;

/**
 * Says what is wrong with how a request tells where its body ends; null when nothing is. uWebSockets.js takes the first
 * of two lengths, an empty length for none, and every transfer coding for `chunked`: to a proxy that reads them in
 * another way, the end of one body is the beginning of another request (RFC 9112, 6.3 and 11.2).
 * @param headers those that came twice are joined with a comma.
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

/** The same of a WebSocket handshake, which has no body: after it, frames follow. */
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
