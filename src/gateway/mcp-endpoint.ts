import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { ServiceError } from '../contract/errors.ts';
import type { Bus } from '../runtime/bus.ts';
import type { HttpRequest, HttpResponse } from './http-message.ts';
import type { AgentCard } from './mcp-agent.ts';
import { decodeText } from './request-body.ts';

/** A client that has said nothing for so long has to initialize anew. */
const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;
/** Most MCP sessions at once; none in use is ever evicted to make room. */
const MAX_SESSIONS = 1_000;

interface McpSession {
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  lastUsed: number;
  /** Requests and streams of the session that are open now. */
  open: number;
}

/**
 * `/mcp`: the agent as an MCP server over streamable HTTP. Each MCP session has a server and a transport of
 * its own, so that no client hears of another's calls.
 */
export class McpEndpoint implements AsyncDisposable {
  readonly #bus: Bus;
  readonly #card: AgentCard;
  readonly #sessions = new Map<string, McpSession>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(bus: Bus, card: AgentCard) {
    this.#bus = bus;
    this.#card = card;
    this.#sweeper = setInterval(() => this.#evictIdle(), SWEEP_MS).unref();
  }

  async handle(request: HttpRequest): Promise<HttpResponse> {
    const body = decodeText(await request.body());
    const id = request.headers.get('mcp-session-id');
    const known = id === undefined ? undefined : this.#sessions.get(id);
    if (id !== undefined && !known) return sessionNotFound();
    const session = known ?? (await this.#create());
    session.open += 1;
    const over = (): void => {
      session.open -= 1;
      session.lastUsed = Date.now();
    };
    const response = await session.transport.handleRequest(webRequest(request, body));
    if (session.transport.sessionId === undefined) await session.server.close();
    return fromWebResponse(response, over);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#sessions.values()].map(({ server }) => server.close()));
    this.#sessions.clear();
  }

  /** The SDK is loaded with the first client: it takes long to load, and many instances never need it. */
  async #create(): Promise<McpSession> {
    if (this.#sessions.size >= MAX_SESSIONS) throw tooManySessions();
    const [{ WebStandardStreamableHTTPServerTransport }, { mcpAgent }] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
      import('./mcp-agent.ts'),
    ]);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void this.#sessions.set(id, session),
      onsessionclosed: (id) => void this.#sessions.delete(id),
      // The web server has checked the size already.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    });
    const server = mcpAgent(this.#bus, this.#card, `mcp-${crypto.randomUUID()}`);
    const session: McpSession = { server, transport, lastUsed: Date.now(), open: 0 };
    await server.connect(transport);
    return session;
  }

  #evictIdle(): void {
    for (const [id, { server, open, lastUsed }] of this.#sessions) {
      if (open > 0 || Date.now() - lastUsed < IDLE_MS) continue;
      this.#sessions.delete(id);
      void server.close();
    }
  }
}

function webRequest({ method, path, headers }: HttpRequest, body: string): Request {
  const init = { method, headers: [...headers] };
  return new Request(`http://service${path}`, method === 'POST' ? { ...init, body } : init);
}

async function fromWebResponse(response: Response, over: () => void): Promise<HttpResponse> {
  const { status } = response;
  const headers = Object.fromEntries(response.headers);
  if (response.body === null) {
    over();
    return { status, headers, body: null };
  }
  return { status, headers, body: watchEnd(response.body, over) };
}

/** The same stream; `over` is called once, when it ends or its reader gives it up. */
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

/** As the MCP specification wants it: the client then initializes anew. */
function sessionNotFound(): HttpResponse {
  const error = { code: -32001, message: 'Session not found' };
  return {
    status: 404,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', error, id: null }),
  };
}

function tooManySessions(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'Too many MCP sessions are open.', {
    limit: MAX_SESSIONS,
    retryAfter: 60,
  });
}
