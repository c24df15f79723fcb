import { ServiceError } from '../../core/errors.ts';
import type { HttpRequest } from '../../ports/web-server.ts';
import { decodeText, parseJsonObject } from '../requests/request-fields.ts';

const JSON_ALONE = ['application/json'];

interface BodyOptions {
  /** An empty body counts as `{}`. */
  readonly optional?: boolean;
  /** Which media types it may have, in lower case. */
  readonly mediaTypes?: readonly string[];
}

/** The JSON object in the body. */
export async function readJsonObject(
  request: HttpRequest,
  { optional = false, mediaTypes = JSON_ALONE }: BodyOptions = {},
): Promise<Record<string, unknown>> {
  const bytes = await request.body();
  if (optional && bytes.length === 0) return {};
  return jsonObjectIn(request, bytes, mediaTypes);
}

/** The same of a body that was read. */
export function jsonObjectIn(
  request: Pick<HttpRequest, 'headers'>,
  bytes: Uint8Array,
  mediaTypes: readonly string[] = JSON_ALONE,
): Record<string, unknown> {
  checkContentType(request.headers.get('content-type'), mediaTypes);
  checkContentEncoding(request.headers.get('content-encoding'));
  return parseJsonObject(decodeText(bytes), 'body');
}

function checkContentType(contentType: string | undefined, mediaTypes: readonly string[]): void {
  // As nearly all clients write it.
  if (contentType === mediaTypes[0]) return;
  const [mediaType = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (mediaTypes.includes(mediaType.trim()) && isUtf8) return;
  throw new ServiceError('INVALID_REQUEST', `The Content-Type must be ${mediaTypes.join(' or ')}.`, {
    field: 'Content-Type',
    issue: contentType === undefined ? 'the header is missing' : `it is "${contentType}"`,
    suggestion: `Send the header Content-Type: ${mediaTypes[0]}.`,
  });
}

function checkContentEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return;
  throw new ServiceError('INVALID_REQUEST', 'The request body must not be compressed.', {
    field: 'Content-Encoding',
    issue: `it is "${encoding}"`,
    suggestion: 'Send the body uncompressed.',
  });
}
