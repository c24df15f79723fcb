import type { HttpRequest, HttpResponse } from '../../ports/web-server.ts';

/** What the transport reads. The others stay out: one that a web `Request` cannot carry would fail it. */
const PASSED_HEADERS = [
  'accept',
  'content-type',
  'mcp-session-id',
  'mcp-protocol-version',
  'last-event-id',
] as const;

/** The request as the SDK's transport takes it. */
export function webRequest({ method, path, headers }: HttpRequest, body: string): Request {
  const passed = PASSED_HEADERS.flatMap((name): [string, string][] => {
    const value = headers.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  const init = { method, headers: passed };
  return new Request(`http://service${path}`, method === 'POST' ? { ...init, body } : init);
}

/** The transport's response as the web server takes it. `onOver` is called when nothing more comes of it. */
export async function fromWebResponse(response: Response, onOver: () => void): Promise<HttpResponse> {
  const { status, body: stream } = response;
  const headers = Object.fromEntries(response.headers);
  const isStream = stream !== null && headers['content-type']?.startsWith('text/event-stream');
  return { status, headers, body: isStream ? stream : await response.text(), onOver };
}

const METHODS = ['GET', 'POST', 'DELETE'];

/** The refusal of a method that the transport does not know; null when it knows it. */
export function wrongMethod(method: string): HttpResponse | null {
  return METHODS.includes(method)
    ? null
    : refusal(405, -32000, 'Method not allowed', { Allow: METHODS.join(', ') });
}

/** As the MCP specification wants it: the client then initializes anew. */
export function sessionNotFound(): HttpResponse {
  return refusal(404, -32001, 'Session not found');
}

function refusal(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): HttpResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }),
  };
}
