import type {
  AuthInfo,
  JSONRPCMessage,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { ServiceError } from '../../../core/errors.ts';
import { clientLimitExceeded, secondsFromNow } from '../../../core/limit-errors.ts';
import type { RequestContext } from '../../../core/request/request-context.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Peers } from '../../../ports/peers.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import type { ServedRequest } from '../../http/http-message.ts';
import type { McpBody } from '../json-rpc-body.ts';
import type { LazyMcp } from '../lazy-mcp.ts';
import { fromWebResponse, sessionNotFound, webRequest } from '../mcp-exchange.ts';
import { initialization, McpPeers, notification } from './mcp-peers.ts';

/** A session that is idle for this long is closed. Its client must initialize again. */
const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;
/** Maximum number of MCP sessions. A new one replaces the session that is idle for longest, never one in use. */
const MAX_SESSIONS = 1_000;
/** The same for one principal, where clients are authenticated: nobody can replace the sessions of others. */
const MAX_OF_PRINCIPAL = 100;

interface McpSession {
  /** Who opened the session. Nobody else can use it. */
  readonly context: RequestContext;
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Requests and streams of the session that are open now. */
  readonly uses: Set<symbol>;
  lastUsed: number;
}

/**
 * The MCP sessions of clients of the older era, up to 2025-11-25. Each has its own server and transport, so that no client
 * sees the calls of another.
 */
export class McpSessions implements Disposable {
  readonly #mcp: LazyMcp;
  readonly #log: Logger;
  readonly #peers: McpPeers | undefined;
  readonly #sessions = new Map<string, McpSession>();
  readonly #sweeper: NodeJS.Timeout;

  /** @param peers the other nodes of a cluster: a client may talk to any of them in one MCP session. */
  constructor(mcp: LazyMcp, log: Logger, peers: Peers | undefined) {
    this.#mcp = mcp;
    this.#log = log;
    this.#peers =
      peers &&
      new McpPeers(peers, {
        ended: (id) => this.#endHere(id),
        cancelled: (id, body) => this.#cancel(id, body),
      });
    this.#sweeper = setInterval(() => this.#evictIdle(), SWEEP_MS).unref();
  }

  /** Number of MCP sessions. */
  get sessions(): number {
    return this.#sessions.size;
  }

  async handle(request: ServedRequest, body: McpBody): Promise<HttpResponse> {
    const { context } = request;
    const id = request.headers.get('mcp-session-id');
    const known =
      id === undefined ? undefined : (this.#sessions.get(id) ?? (await this.#revive(id, request)));
    if (id !== undefined && !(known && isOf(known, context))) return sessionNotFound();
    const session = known ?? (await this.#create({ ...context, trace: undefined }));
    if (id !== undefined) this.#peers?.noteBody(id, body.text);
    const over = use(session);
    try {
      const response = await session.transport.handleRequest(webRequest(request, body.text), asker(context));
      if (session.transport.sessionId === undefined) await session.server.close();
      return await fromWebResponse(response, { onOver: over, lost: request.credential?.lost, body });
    } catch (error) {
      over();
      throw error;
    }
  }

  /**
   * Forgets all sessions; the web server cuts their streams. Closing them would cancel the running turns, which
   * continue after the next start.
   */
  [Symbol.dispose](): void {
    clearInterval(this.#sweeper);
    this.#sessions.clear();
  }

  async #create(
    context: RequestContext,
    id = this.#peers?.newId(context) ?? crypto.randomUUID(),
  ): Promise<McpSession> {
    if (context.rights) this.#makeRoomOf(context);
    this.#makeRoom();
    const { sdk, serverFor } = await this.#mcp.load();
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessioninitialized: () => void this.#sessions.set(id, session),
      onsessionclosed: () => {
        this.#sessions.delete(id);
        this.#peers?.end(id);
      },
      // The web server has checked the size already, and keeps streams alive.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      keepAliveMs: 0,
    });
    transport.onmessage = (message) => endCancelledStream(transport, message);
    const server = serverFor({ era: 'legacy', ownSessionId: `mcp-${id}`, context, isLasting: true });
    const session: McpSession = { context, server, transport, uses: new Set(), lastUsed: Date.now() };
    await server.connect(transport);
    return session;
  }

  /**
   * A session that another node has begun. All that it consists of is its id, from which the client's own conversation has
   * its name, and who asks.
   */
  async #revive(id: string, { context, headers }: ServedRequest): Promise<McpSession | undefined> {
    if (!this.#peers?.mayHave(id, context)) return undefined;
    const session = await this.#create({ ...context, trace: undefined }, id);
    await session.transport.handleRequest(initialization(headers.get('mcp-protocol-version')));
    return this.#sessions.get(id);
  }

  /** The client has ended the session at another node. */
  #endHere(id: string): void {
    const session = this.#sessions.get(id);
    if (session) this.#evict(id, session);
  }

  /** A call of this session that runs here, and that the client has cancelled at another node. */
  #cancel(id: string, body: string): void {
    const session = this.#sessions.get(id);
    session?.transport.handleRequest(notification(id, body)).catch((err: unknown) => {
      this.#log.warn({ err }, 'a call that was cancelled at another node could not be cancelled here');
    });
  }

  /** Clients that never closed their sessions must not keep others out. Throws if all sessions are in use. */
  #makeRoom(): void {
    if (this.#sessions.size < MAX_SESSIONS) return;
    if (!this.#evictLongestIdle([...this.#sessions])) throw tooManySessions();
  }

  /** Throws if the principal has too many sessions, all of them in use. */
  #makeRoomOf(context: RequestContext): void {
    const own = [...this.#sessions].filter(([, session]) => isOf(session, context));
    if (own.length < MAX_OF_PRINCIPAL) return;
    if (!this.#evictLongestIdle(own)) throw tooManyOfPrincipal();
  }

  /** @returns whether one was idle. */
  #evictLongestIdle(sessions: readonly [string, McpSession][]): boolean {
    const idle = sessions.filter(([, { uses }]) => uses.size === 0);
    const [longest] = idle.sort(([, a], [, b]) => a.lastUsed - b.lastUsed);
    if (longest) this.#evict(...longest);
    return longest !== undefined;
  }

  #evictIdle(): void {
    const now = Date.now();
    for (const [id, session] of this.#sessions) {
      if (session.uses.size === 0 && now - session.lastUsed >= IDLE_MS) this.#evict(id, session);
    }
  }

  #evict(id: string, { server }: McpSession): void {
    this.#sessions.delete(id);
    server.close().catch((err: unknown) => {
      this.#log.warn({ err }, 'an idle MCP session could not be closed');
    });
  }
}

/** Each call is made with the rights of its own request: those of a later token may be fewer. */
function asker(context: RequestContext): { authInfo?: AuthInfo } {
  if (!context.rights) return {};
  // The token stays here: nobody beyond needs it.
  return { authInfo: { token: '', clientId: context.principal, scopes: [], extra: { context } } };
}

function isOf({ context }: McpSession, { principal, tenant }: RequestContext): boolean {
  return context.principal === principal && context.tenant === tenant;
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

/** The SDK does not answer a cancelled call, and would keep its stream open for the life of the session. */
function endCancelledStream(transport: McpSession['transport'], message: JSONRPCMessage): void {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return;
  const requestId = message.params?.requestId;
  if (typeof requestId === 'string' || typeof requestId === 'number') transport.closeSSEStream(requestId);
}

function tooManyOfPrincipal(): ServiceError {
  return clientLimitExceeded(
    {
      ...{ name: 'mcpSessions', of: 'principal', what: 'MCP sessions in use' },
      suggestion: 'End sessions with DELETE, or close their streams.',
    },
    { limit: MAX_OF_PRINCIPAL, resetTime: secondsFromNow(60) },
  );
}

function tooManySessions(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'Too many MCP sessions are in use.', {
    reason: 'too many MCP sessions are in use',
    limit: MAX_SESSIONS,
    retryAfter: 60,
  });
}
