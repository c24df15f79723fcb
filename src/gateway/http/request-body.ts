import { ServiceError } from '../../core/errors.ts';
import type { HttpRequest } from '../../ports/web-server.ts';
import { decodeText, parseJsonObject } from '../requests/request-fields.ts';

/**
 * The JSON object in the body.
 *
 * @param options.optional an empty body counts as `{}`.
 */
export async function readJsonObject(
  request: HttpRequest,
  { optional = false } = {},
): Promise<Record<string, unknown>> {
  const bytes = await request.body();
  if (optional && bytes.length === 0) return {};
  checkContentType(request.headers.get('content-type'));
  return parseJsonObject(decodeText(bytes), 'The request body');
}

function checkContentType(contentType: string | undefined): void {
  const [mediaType = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (mediaType.trim() === 'application/json' && isUtf8) return;
  throw new ServiceError('INVALID_REQUEST', 'The Content-Type must be application/json.', {
    field: 'Content-Type',
    issue: contentType === undefined ? 'the header is missing' : `it is "${contentType}"`,
    suggestion: 'Send the header Content-Type: application/json.',
  });
}
