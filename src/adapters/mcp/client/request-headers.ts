import type { ForwardedRequest } from '../../../ports/tool-server.ts';

/** The parameter that `Mcp-Name` repeats. */
const namedBy: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** The headers that a request of a stateless era has over HTTP, so that proxies need not read its body. */
export function requestHeaders(
  { method, params }: ForwardedRequest,
  version: string,
): Record<string, string> {
  const name = Object.hasOwn(namedBy, method) ? params[namedBy[method] ?? ''] : undefined;
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
  };
}

const WRAPPED = /^=\?base64\?.*\?=$/s;
/** Printable ASCII and tabs, without space at the ends. */
const PLAIN = /^(?![\t ])[\t\x20-\x7E]+(?<![\t ])$/;

/** A text as the value of a header. What a header cannot hold is wrapped in Base64. */
export function headerValue(text: string): string {
  if (PLAIN.test(text) && !WRAPPED.test(text)) return text;
  return `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
