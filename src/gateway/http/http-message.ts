import type { AgentId } from '../../core/agent-description.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { HttpRequest, HttpResponse } from '../../ports/web-server.ts';
import type { StreamCredential } from '../security/held-credentials.ts';
import type { RequestUse } from './request-use.ts';

/** A request of an identified client. */
export interface ServedRequest extends HttpRequest {
  readonly context: RequestContext;
  /** The agent that the path or the query names, where the service has several. */
  readonly agent?: AgentId | undefined;
  /** What stood before the path, such as `/agents/support`. Absent if the path names no agent. */
  readonly prefix?: string | undefined;
  /** Of a stream, or of an answer that may take as long as a turn, where clients are authenticated. */
  readonly credential?: StreamCredential | undefined;
  /** Of such a request, too. */
  readonly use?: RequestUse | undefined;
}

/** The text of a date takes longer than all else in a short answer, and many answers come in one millisecond. */
let written = { ms: 0, text: new Date(0).toISOString() };

/** The `timestamp` of a response: ISO 8601 UTC with milliseconds. */
export function now(): string {
  const ms = Date.now();
  if (ms !== written.ms) written = { ms, text: new Date(ms).toISOString() };
  return written.text;
}

/** Name the response type as `Body`. Without it, the default `never` accepts no body. */
export function jsonResponse<Body extends object = never>(
  body: NoInfer<Body>,
  status = 200,
  headers: Record<string, string> = {},
): HttpResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}
