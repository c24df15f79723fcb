import type { Server } from '@modelcontextprotocol/server';
import type { SessionId } from '../../../core/ids.ts';
import type { RequestContext } from '../../../core/request/request-context.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import type { ServedRequest } from '../../http/http-message.ts';
import type { AgentSurfaceDeps } from '../agent/agent-deps.ts';
import type { McpBody } from '../json-rpc-body.ts';
import { authInfoOf } from '../mcp-asker.ts';
import { fromWebResponse, webRequest } from '../mcp-exchange.ts';
import { chatStreamOf, sealChat, sessionsOf } from '../resume/chat-stream.ts';
import type { SessionTransport } from './session-transport.ts';

export interface McpSession {
  readonly id: string;
  /** Who opened the session. Nobody else can use it. */
  readonly context: RequestContext;
  readonly server: Server;
  readonly transport: SessionTransport;
  /** Requests and streams of the session that are open now. */
  readonly uses: Set<symbol>;
  lastUsed: number;
}

/** A request of HTTP, and its body. */
export interface Received {
  readonly request: ServedRequest;
  readonly body: McpBody;
}

/** The conversation of a session, for calls that name none. */
export function conversationOf(id: string): SessionId {
  return `mcp-${id}`;
}

export function isOf({ context }: McpSession, { principal, tenant }: RequestContext): boolean {
  return context.principal === principal && context.tenant === tenant;
}

/** What the transport of the session says to a request. Streams that it opens can be resumed. */
export async function responseOf(
  { id, transport }: McpSession,
  { request, body }: Received,
  { exposes, secrets }: Pick<AgentSurfaceDeps, 'exposes' | 'secrets'>,
): Promise<Response> {
  const { context } = request;
  const { requestIds } = body;
  const respond = (): Promise<Response> =>
    transport.handleRequest(webRequest(request, body.text), authInfoOf(request));
  if (requestIds.length === 0) return respond();
  const isAgent = exposes.has('agent');
  const chat = isAgent ? chatStreamOf(body, conversationOf(id)) : null;
  const sessionIds = isAgent ? sessionsOf(body, conversationOf(id)) : [];
  const name = chat ? await sealChat(secrets, chat, context) : crypto.randomUUID();
  return transport.events.begin({ name, requestIds, turnId: chat?.turnId, sessionIds }, respond);
}

/** The session is in use until the response is over. */
export async function inUse(
  session: McpSession,
  { request, body }: Received,
  respond: () => Promise<Response>,
): Promise<HttpResponse> {
  const over = use(session);
  try {
    const response = await respond();
    if (session.transport.sessionId === undefined) await session.server.close();
    return await fromWebResponse(response, { onOver: over, lost: request.credential?.lost, body });
  } catch (error) {
    over();
    throw error;
  }
}

/** Marks the session as in use. The returned function ends the use and may be called more than once. */
function use(session: McpSession): () => void {
  const mark = Symbol('use');
  session.uses.add(mark);
  return () => {
    session.uses.delete(mark);
    session.lastUsed = Date.now();
  };
}
