import { ServiceError } from '../../../core/errors.ts';
import { fullService, fullShare } from '../../../core/limit-errors.ts';
import type { RequestContext } from '../../../core/request/request-context.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { Peers } from '../../../ports/peers.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import type { ServedRequest } from '../../http/http-message.ts';
import type { AgentSurfaceDeps } from '../agent/agent-deps.ts';
import { refusedBatch } from '../batches.ts';
import { CLIENT_SHARES, type ClientShare, MAX_IN_ALL } from '../client-shares.ts';
import { isInitialize, type McpBody } from '../json-rpc-body.ts';
import type { LazyMcp } from '../lazy-mcp.ts';
import { sessionNotFound } from '../mcp-exchange.ts';
import { MCP_PATH } from '../mcp-path.ts';
import { KeptStreams } from '../resume/kept-streams.ts';
import type { LogReader } from '../resume/told-from-log.ts';
import { EndedSessions } from './ended-sessions.ts';
import { tooLongInitialize } from './initialize-size.ts';
import { initialization, McpPeers, notification } from './mcp-peers.ts';
import { conversationOf, inUse, isOf, type McpSession, responseOf } from './mcp-session.ts';
import { resumedStream } from './resumed-stream.ts';

/** A session that is idle for this long is closed. Its client must initialize again. */
const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;

export interface McpSessionsDeps extends LogReader, Pick<AgentSurfaceDeps, 'exposes' | 'secrets' | 'log'> {
  readonly mcp: LazyMcp;
  readonly authenticator: Pick<Authenticator, 'noteRefusal'>;
  /** The other nodes of a cluster: a client may talk to any of them in one MCP session. */
  readonly peers: Peers | undefined;
}

/**
 * The MCP sessions of clients of the older era, up to 2025-11-25. Each has its own server and transport, so that no client
 * sees the calls of another.
 */
export class McpSessions implements Disposable {
  readonly #deps: McpSessionsDeps;
  readonly #peers: McpPeers | undefined;
  readonly #sessions = new Map<string, McpSession>();
  /** Sessions that are being made, for the requests that come meanwhile. */
  readonly #revived = new Map<string, Promise<McpSession | undefined>>();
  /** Whose the sessions are that are being made, by their ids: they take places, too. */
  readonly #begun = new Map<string, RequestContext>();
  readonly #ended = new EndedSessions();
  readonly #kept = new KeptStreams();
  readonly #sweeper: NodeJS.Timeout;

  constructor(deps: McpSessionsDeps) {
    this.#deps = deps;
    const { peers } = deps;
    this.#peers =
      peers &&
      new McpPeers(peers, {
        ended: (id) => this.#endHere(id),
        cancelled: (id, body) => this.#cancel(id, body),
      });
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  /** Number of MCP sessions. */
  get sessions(): number {
    return this.#sessions.size;
  }

  async handle(request: ServedRequest, body: McpBody): Promise<HttpResponse> {
    const { context, headers, method } = request;
    const id = headers.get('mcp-session-id');
    const known = id === undefined ? undefined : await this.#find(id, request);
    if (known && !isOf(known, context)) {
      this.#deps.authenticator.noteRefusal?.(context, `${method} ${MCP_PATH}`, notYours());
      return sessionNotFound();
    }
    const isGone = id !== undefined && !known;
    const lastEventId = method === 'GET' ? headers.get('last-event-id') : undefined;
    // A session from before a restart is gone, too, but its streams may go on.
    if (isGone && (!lastEventId || this.#ended.has(id))) return sessionNotFound();
    if (lastEventId) {
      const resumption = { request, body, lastEventId, session: known, isGone };
      return resumedStream(this.#deps, resumption);
    }
    const revision = headers.get('mcp-protocol-version') ?? known?.server.getNegotiatedProtocolVersion();
    const wrongBatch = refusedBatch(body, revision);
    if (wrongBatch) return wrongBatch;
    if (id !== undefined) this.#peers?.noteBody(id, body.text);
    const respond = (session: McpSession) =>
      inUse(session, { request, body }, () => responseOf(session, { request, body }, this.#deps));
    if (known) return respond(known);
    const opener = { ...context, trace: undefined };
    const newId = this.#peers?.newId(context) ?? crypto.randomUUID();
    const answer = async () => respond(await this.#create(newId, opener));
    // A session that is not initialized refuses all other requests, and is not kept.
    if (method !== 'POST' || !isInitialize(body.json)) return answer();
    return tooLongInitialize(body) ?? this.#inPlace(newId, opener, answer);
  }

  /**
   * Forgets all sessions; the web server cuts their streams. Closing them would cancel the running turns, which
   * continue after the next start.
   */
  [Symbol.dispose](): void {
    clearInterval(this.#sweeper);
    this.#sessions.clear();
  }

  /** Keeps a place for the session until it is initialized, or is not. Throws if there is none. */
  async #inPlace<T>(id: string, context: RequestContext, make: () => Promise<T>): Promise<T> {
    if (context.rights) this.#makeRoomOf(context);
    this.#makeRoom();
    this.#begun.set(id, context);
    try {
      return await make();
    } finally {
      this.#begun.delete(id);
    }
  }

  async #create(id: string, context: RequestContext): Promise<McpSession> {
    const { transportOf, serverFor } = await this.#deps.mcp.load();
    const transport = transportOf({
      id,
      kept: this.#kept,
      onInitialized: () => {
        this.#begun.delete(id);
        this.#sessions.set(id, session);
      },
      onEnded: () => {
        this.#sessions.delete(id);
        this.#ended.add(id);
        this.#peers?.end(id);
      },
    });
    const server = serverFor({
      era: 'legacy',
      context,
      isLasting: true,
      ownSessionId: conversationOf(id),
      turnOf: (requestId) => transport.events.turnOf(requestId),
      answerers: transport.answerers,
    });
    const session = { id, context, server, transport, uses: new Set<symbol>(), lastUsed: Date.now() };
    await server.connect(transport);
    return session;
  }

  /** The session with this id, also if another node has begun it. It may be somebody else's. */
  async #find(id: string, request: ServedRequest): Promise<McpSession | undefined> {
    const known = this.#sessions.get(id);
    if (known || this.#ended.has(id) || !this.#peers?.mayHave(id, request.context)) return known;
    const reviving = this.#revived.get(id) ?? this.#revive(id, request);
    this.#revived.set(id, reviving);
    return reviving.finally(() => this.#revived.delete(id));
  }

  /**
   * A session that another node has begun. All that it consists of is its id, from which the client's own conversation has
   * its name, and who asks.
   */
  async #revive(id: string, { context, headers }: ServedRequest): Promise<McpSession | undefined> {
    const opener = { ...context, trace: undefined };
    return this.#inPlace(id, opener, async () => {
      const { transport } = await this.#create(id, opener);
      await transport.handleRequest(initialization(headers.get('mcp-protocol-version')));
      return this.#sessions.get(id);
    });
  }

  /** The client has ended the session at another node. */
  #endHere(id: string): void {
    this.#ended.add(id);
    const session = this.#sessions.get(id);
    if (!session) return;
    this.#sessions.delete(id);
    session.server.close().catch((err: unknown) => {
      this.#deps.log.warn({ err }, 'an MCP session that was ended at another node could not be closed');
    });
  }

  /** A call of this session that runs here, and that the client has cancelled at another node. */
  #cancel(id: string, body: string): void {
    const session = this.#sessions.get(id);
    session?.transport.handleRequest(notification(id, body)).catch((err: unknown) => {
      this.#deps.log.warn({ err }, 'a call that was cancelled at another node could not be cancelled here');
    });
  }

  /**
   * Clients that never closed their sessions must not keep others out: a new session replaces the one that is idle for longest,
   * never one in use. Throws if all sessions are in use.
   */
  #makeRoom(): void {
    if (this.#sessions.size + this.#begun.size < MAX_IN_ALL) return;
    if (!this.#evictLongestIdle([...this.#sessions.values()])) throw tooManySessions();
  }

  /** Throws if the principal or its tenant has too many sessions, all of them in use. */
  #makeRoomOf(client: RequestContext): void {
    for (const share of CLIENT_SHARES) {
      const own = [...this.#sessions.values()].filter(({ context }) => share.includes(client, context));
      const begun = [...this.#begun.values()].filter((context) => share.includes(client, context));
      if (own.length + begun.length >= share.most && !this.#evictLongestIdle(own)) throw tooManyOf(share);
    }
  }

  /** @returns whether one was idle. */
  #evictLongestIdle(sessions: readonly McpSession[]): boolean {
    const idle = sessions.filter(({ uses }) => uses.size === 0);
    const [longest] = idle.sort((a, b) => a.lastUsed - b.lastUsed);
    if (longest) this.#evict(longest);
    return longest !== undefined;
  }

  #sweep(): void {
    this.#kept.expire();
    const now = Date.now();
    for (const session of this.#sessions.values())
      if (session.uses.size === 0 && now - session.lastUsed >= IDLE_MS) this.#evict(session);
  }

  /** Calls that still run go on. */
  #evict({ id, server, transport }: McpSession): void {
    this.#sessions.delete(id);
    server.onclose?.();
    transport.leave().catch((err: unknown) => {
      this.#deps.log.warn({ err }, 'an idle MCP session could not be closed');
    });
  }
}

/** For the audit trail. The client is told what it would be of a session that there is not. */
function notYours(): ServiceError {
  return new ServiceError('SESSION_NOT_FOUND', 'There is no such MCP session.', {
    reason: 'the MCP session of somebody else',
  });
}

function tooManyOf({ of, most }: ClientShare): ServiceError {
  const suggestion = 'End sessions with DELETE, or close their streams.';
  return fullShare({ name: 'mcpSessions', of, what: 'MCP sessions in use', suggestion }, most, 60);
}

function tooManySessions(): ServiceError {
  return fullService({
    message: 'Too many MCP sessions are in use.',
    reason: 'too many MCP sessions are in use',
    limit: MAX_IN_ALL,
    retrySeconds: 60,
  });
}
