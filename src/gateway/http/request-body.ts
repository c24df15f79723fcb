import type { z } from 'zod';
import { closest } from '../../config/problems/closest.ts';
import { knownKeys } from '../../config/problems/schema-keys.ts';
import { ServiceError } from '../../core/errors.ts';
import type { HttpRequest } from '../../ports/web-server.ts';
import { decodeText, parseFields, parseJsonObject } from '../requests/request-fields.ts';
import { refuseSessionInBody } from '../requests/session-place.ts';

const JSON_ALONE = ['application/json'];

interface BodyOptions {
  /** An empty body counts as `{}`. */
  readonly optional?: boolean;
  /** Which media types it may have, in lower case. */
  readonly mediaTypes?: readonly string[];
}

/** The fields of the body. Throws a `ServiceError` that names the wrong field. */
export async function readFields<S extends z.ZodType>(
  schema: S,
  request: HttpRequest,
  options?: BodyOptions,
): Promise<z.output<S>> {
  return bodyFields(schema, request, await readJsonObject(request, options));
}

/** The same of a body that was read. */
export function bodyFields<S extends z.ZodType>(
  schema: S,
  { path, query }: Pick<HttpRequest, 'path' | 'query'>,
  body: Record<string, unknown>,
): z.output<S> {
  const known = knownKeys(schema, body, []);
  if (query !== '') refuseInQuery(known, query);
  if (!known.includes('sessionId')) refuseSessionInBody(body, path);
  return parseFields(schema, body);
}

/** A field of the body that stands in the query would be ignored. Others may add parameters of their own there. */
function refuseInQuery(known: readonly string[], query: string): void {
  for (const field of new URLSearchParams(query).keys()) {
    const meant = closest(field, known, 0);
    if (meant === undefined) continue;
    throw new ServiceError('INVALID_REQUEST', `The field ${field} stands in the query.`, {
      field,
      issue: 'the query of this request has no such field',
      suggestion: `Write ${meant} in the body.`,
    });
  }
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
  if (isContentType(contentType, mediaTypes)) return;
  throw new ServiceError('INVALID_REQUEST', `The Content-Type must be ${mediaTypes.join(' or ')}.`, {
    field: 'Content-Type',
    issue: contentType === undefined ? 'the header is missing' : `it is "${contentType}"`,
    suggestion: `Send the header Content-Type: ${mediaTypes[0]}.`,
  });
}

/** Whether a body is of one of the types, in UTF-8. */
export function isContentType(contentType: string | undefined, mediaTypes: readonly string[]): boolean {
  // As nearly all clients write it.
  if (contentType === mediaTypes[0]) return true;
  const [mediaType = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return mediaTypes.includes(mediaType.trim()) && isUtf8;
}

function checkContentEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return;
  throw new ServiceError('INVALID_REQUEST', 'The request body must not be compressed.', {
    field: 'Content-Encoding',
    issue: `it is "${encoding}"`,
    suggestion: 'Send the body uncompressed.',
  });
}
