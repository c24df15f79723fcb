import type { HttpRequest, HttpResponse } from './http-message.ts';

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

/** The transport's response as the web server takes it. `over` is called when nothing more comes of it. */
export async function fromWebResponse(response: Response, over: () => void): Promise<HttpResponse> {
  const { status } = response;
  const headers = Object.fromEntries(response.headers);
  if (response.body !== null && headers['content-type']?.startsWith('text/event-stream')) {
    return { status, headers, body: watchEnd(response.body, over) };
  }
  const body = await response.text();
  over();
  return { status, headers, body };
}

/** The same stream; `over` is called when it ends or its reader gives it up. */
function watchEnd(stream: ReadableStream<Uint8Array>, over: () => void): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      return over();
    },
    async cancel(reason) {
      over();
      await reader.cancel(reason);
    },
  });
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
