import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { scriptableTools } from './scriptable-tools.ts';
import { statelessTools } from './stateless-tools.ts';

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

export interface TestHttpServer extends AsyncDisposable {
  readonly url: string;
  /** Method and headers of the requests so far. */
  readonly requests: { readonly method: string | undefined; readonly headers: IncomingHttpHeaders }[];
  /** As if the process had been killed: every connection breaks. */
  crash(): Promise<void>;
}

/** Serves every request with the handler. If it rejects, the connection breaks. */
export async function serve(path: string, handle: Handler): Promise<TestHttpServer> {
  const requests: TestHttpServer['requests'] = [];
  const server = createServer((req, res) => {
    requests.push({ method: req.method, headers: req.headers });
    handle(req, res).catch((error: unknown) => res.destroy(error instanceof Error ? error : undefined));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  const crash = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${address.port}${path}`, requests, crash, [Symbol.asyncDispose]: crash };
}

export interface StreamableServer extends TestHttpServer {
  /** As a restart does: no session is known any more. */
  forgetSessions(): void;
  /** Ends the streams for notifications, as a proxy does that finds them idle. */
  endStreams(): void;
}

export interface StreamableOptions {
  readonly withStream?: boolean;
  readonly tools?: typeof scriptableTools;
  /** No stream is opened before. */
  readonly mayStream?: Promise<void>;
}

/** The scriptable tools, or others, over Streamable HTTP, with a session for each client. */
export async function streamableServer({
  withStream = true,
  tools = scriptableTools,
  mayStream = Promise.resolve(),
}: StreamableOptions = {}): Promise<StreamableServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const open = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await tools().connect(transport);
    return transport;
  };
  const server = await serve('/mcp', async (req, res) => {
    if (req.method === 'GET' && !withStream) return void res.writeHead(405).end();
    const id = req.headers['mcp-session-id'];
    const transport = typeof id === 'string' ? sessions.get(id) : await open();
    if (transport === undefined) return void res.writeHead(404).end('no such session');
    if (req.method === 'GET') await mayStream;
    await transport.handleRequest(req, res);
  });
  return {
    ...server,
    forgetSessions: () => sessions.clear(),
    endStreams: () => {
      for (const transport of sessions.values()) transport.closeStandaloneSSEStream();
    },
  };
}

export interface StatelessServer extends TestHttpServer {
  /** Tells those who listen that the tools have changed. */
  tellToolsChanged(): void;
}

/** The tools of `stateless-tools.ts`, for clients of 2026-07-28 only. */
export async function statelessHttpServer(): Promise<StatelessServer> {
  const handler = createMcpHandler(statelessTools, { legacy: 'reject' });
  const server = await serve('/mcp', async (req, res) => {
    const gone = new AbortController();
    res.once('close', () => gone.abort());
    const response = await handler.fetch(
      new Request(new URL(req.url ?? '/', 'http://127.0.0.1'), {
        method: req.method ?? 'GET',
        headers: Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]),
        ...(req.method === 'POST' && { body: await text(req) }),
        signal: gone.signal,
      }),
    );
    res.writeHead(response.status, Object.fromEntries(response.headers)).flushHeaders();
    for await (const chunk of response.body ?? []) res.write(chunk);
    res.end();
  });
  return { ...server, tellToolsChanged: () => handler.notify.toolsChanged() };
}

/** The scriptable tools over the older HTTP with SSE. */
export async function sseServer(): Promise<TestHttpServer> {
  const sessions = new Map<string, SSEServerTransport>();
  return await serve('/sse', async (req, res) => {
    const url = new URL(req.url ?? '/', 'http://localhost');
    if (req.method === 'GET' && url.pathname === '/sse') {
      const transport = new SSEServerTransport('/message', res);
      sessions.set(transport.sessionId, transport);
      return await scriptableTools().connect(transport);
    }
    const transport = sessions.get(url.searchParams.get('sessionId') ?? '');
    if (req.method !== 'POST' || transport === undefined) return void res.writeHead(404).end();
    await transport.handlePostMessage(req, res);
  });
}

/** Answers every request in one way. */
export async function constantServer(status: number, body: string): Promise<TestHttpServer> {
  return await serve('/mcp', async (_req, res) => void res.writeHead(status).end(body));
}

/** Answers when it may. Sends the head of an answer at once, if it is asked for at `/head`. */
export async function lateServer(mayAnswer: Promise<void>): Promise<TestHttpServer> {
  return await serve('', async ({ url }, res) => {
    if (url === '/head') res.writeHead(200).flushHeaders();
    await mayAnswer;
    res.end('late');
  });
}

/** Accepts requests and answers none. */
export async function silentHttpServer(): Promise<TestHttpServer> {
  return await serve('/mcp', () => Promise.resolve());
}
