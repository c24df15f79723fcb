import type { HttpRequest } from '../../ports/web-server.ts';
import { a2aError } from './a2a-error.ts';

export const VERSION_HEADER = 'A2A-Version';
export const A2A_VERSION = '1.0';
/** The media type of bodies of the HTTP+JSON binding. */
export const A2A_TYPE = 'application/a2a+json';

/** Throws unless the client speaks 1.0. A client that says nothing speaks 0.3. */
export function checkVersion({ headers, query }: Pick<HttpRequest, 'headers' | 'query'>): void {
  const asked = headers.get(VERSION_HEADER.toLowerCase()) ?? new URLSearchParams(query).get(VERSION_HEADER);
  // Patches of the specification change nothing.
  if (/^\s*1\.0(\.\d+)?\s*$/.test(asked ?? '')) return;
  const version = asked?.trim() || '0.3';
  throw a2aError('VERSION_NOT_SUPPORTED', `The service does not speak A2A ${version}.`, {
    field: VERSION_HEADER,
    issue: asked ? `it is ${version}` : 'it is missing, which means 0.3',
    supported: [A2A_VERSION],
    suggestion: `Send the header ${VERSION_HEADER}: ${A2A_VERSION}.`,
  });
}
