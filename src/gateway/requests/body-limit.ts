import { encodedBytes, type MaxBytes } from '../../core/size-limits.ts';
import type { BodyLimit } from '../../ports/web-server.ts';

/** The paths whose requests may hold an image in base64. */
const WITH_IMAGES: ReadonlySet<string> = new Set([
  '/api/message-sync',
  '/mcp',
  '/v1/chat/completions',
  '/v1/responses',
  '/a2a',
  '/a2a/message:send',
  '/a2a/message:stream',
  '/ag-ui',
]);

/** The limit on the bodies of a path. */
export function bodyLimit(path: string, maxBytes: MaxBytes): BodyLimit | false {
  if (maxBytes === false) return false;
  return WITH_IMAGES.has(path)
    ? { what: 'a message', maxBytes, readBytes: encodedBytes(maxBytes) }
    : { what: 'a request', maxBytes, readBytes: maxBytes };
}
