import type { HttpRequest } from '../../ports/web-server.ts';
import { isContentType } from '../http/request-body.ts';
import { a2aError } from './a2a-error.ts';

/** Throws if the body of a request is of none of the types. */
export function checkContentType(
  { headers }: Pick<HttpRequest, 'headers'>,
  mediaTypes: readonly string[],
): void {
  const contentType = headers.get('content-type');
  if (isContentType(contentType, mediaTypes)) return;
  throw a2aError('CONTENT_TYPE_NOT_SUPPORTED', `The Content-Type must be ${mediaTypes.join(' or ')}.`, {
    field: 'Content-Type',
    issue: contentType === undefined ? 'the header is missing' : `it is ${contentType}`,
    supported: mediaTypes,
  });
}
