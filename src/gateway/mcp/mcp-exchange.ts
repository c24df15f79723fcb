import type { ServiceError } from '../../core/errors.ts';
import { MCP_CODES, RPC } from '../../core/json-rpc.ts';
import type { HttpRequest, HttpResponse } from '../../ports/web-server.ts';
import { errorCatalogue } from '../../wire/error-catalogue.ts';
import { retryHeaders } from '../http/error-response.ts';
import { untilLost } from './credential-stream.ts';
import type { McpBody } from './json-rpc-body.ts';
import type { McpObject } from './mcp-object.ts';

/**
 * The headers that the transport reads. Others are dropped: a web `Request` throws on values that it cannot
 * hold.
 */
const PASSED_HEADERS = [
  'accept',
  'content-type',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'last-event-id',
] as const;

/** The request in the form that the SDK's transport takes. */
export function webRequest({ method, path, headers }: HttpRequest, body: string): Request {
  const passed = PASSED_HEADERS.flatMap((name): [string, string][] => {
    const value = headers.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  const init = { method, headers: passed };
  return new Request(`http://service${path}`, method === 'POST' ? { ...init, body } : init);
}

interface Exchange {
  /** Of the request. */
  readonly body: McpBody;
  /** Aborted when the client may hear no more. */
  readonly lost: AbortSignal | undefined;
  readonly onOver: () => void;
}

/** The transport's response in the form that the web server takes, which says itself whether the connection goes on. */
export async function fromWebResponse(
  response: Response,
  { body, lost, onOver }: Exchange,
): Promise<HttpResponse> {
  const { status, body: stream } = response;
  const { connection: _, ...headers } = Object.fromEntries(response.headers);
  const isStream = stream !== null && headers['content-type']?.startsWith('text/event-stream');
  if (!isStream) return { status, headers, body: await response.text(), onOver };
  return { status, headers, body: lost ? untilLost(stream, lost, body) : stream, onOver };
}

const METHODS = ['GET', 'POST', 'DELETE'];

/** The refusal of a method that the transport does not support; null for the others. */
export function wrongMethod(method: string): HttpResponse | null {
  return METHODS.includes(method)
    ? null
    : refusal(405, MCP_CODES.serverError, 'Method not allowed', { Allow: METHODS.join(', ') });
}

/** The MCP specification requires 404. The client then initializes again. */
export function sessionNotFound(): HttpResponse {
  return refusal(404, MCP_CODES.sessionNotFound, 'Session not found');
}

/** The refusal of a body that cannot be read as JSON-RPC, with the status that it has everywhere. */
export function unreadBody(error: ServiceError): HttpResponse {
  const { status } = errorCatalogue[error.code];
  const code = status === 400 ? RPC.parseError : MCP_CODES.serverError;
  return refusal(status, code, error.message, retryHeaders(error), error.details);
}

/** @param data what programs learn, beside the message. */
export function refusal(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
  data?: McpObject,
): HttpResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', error: { code, message, ...(data && { data }) }, id: null }),
  };
}
