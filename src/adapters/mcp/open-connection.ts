import type { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import type { Logger } from '../../ports/logger.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';
import type { ToolServerConnection, ToolServerEvents } from '../../ports/tool-server.ts';
import { within } from '../../timing/deadline.ts';
import { McpClient } from './client/mcp-client.ts';
import { failureText } from './failure/failure-text.ts';
import { type Mask, secretMask } from './failure/secret-mask.ts';
import { asksForOAuth, httpEndpoint } from './http/http-endpoint.ts';
import { HttpStatusError } from './http/http-status-error.ts';
import { StreamableTransport } from './http/streamable-transport.ts';
import { McpConnection } from './mcp-connection.ts';
import type { McpAuthorizations } from './oauth/mcp-authorizations.ts';
import type { ServerAuthorization } from './oauth/server-authorization.ts';
import { RequestTimeoutError } from './peer/rpc-errors.ts';
import { type Answers, answersFor } from './questions/answers.ts';
import type { ServerTransport } from './server-transport.ts';
import type { RunningServers } from './stdio/running-servers.ts';
import { serverEnvironment } from './stdio/server-environment.ts';
import { StderrLog } from './stdio/stderr-log.ts';
import { StdioTransport } from './stdio/stdio-transport.ts';

export interface McpConnectorDeps {
  readonly log: Logger;
  /** Checks the results of tools. */
  readonly schemas: Pick<SchemaCheck, 'ofResult'>;
  /** The service's own environment. A server process gets only the variables on an allow-list. */
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  /** Appended to a server's PATH, so that the servers that come with the service are found. */
  readonly binFolders: readonly string[];
  /** The program and arguments that run the command `agent-service`, wherever it is installed. */
  readonly ownProgram: OwnProgram;
  /** The version that the handshake tells to every server. */
  readonly clientVersion: string;
  /** The permissions to use servers that answer 401. Without it, a 401 is an error. */
  readonly authorizations?: McpAuthorizations;
  /** The questions of tool servers that the service can answer. None without it. */
  readonly answers?: Answers;
  /** How often a server behind HTTP is pinged. */
  readonly pingIntervalMs?: number;
  /** How long a server process may take to stop after stdin is closed, and again after SIGTERM. */
  readonly stopGraceMs?: number;
}

interface OpeningDeps extends McpConnectorDeps {
  readonly running: RunningServers;
}

export type OwnProgram = readonly [command: string, ...args: string[]];

/** The arguments of `ToolServerConnector.connect`. */
export interface ConnectRequest {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly events: ToolServerEvents;
  readonly signal: AbortSignal;
}

/** One attempt to connect. */
interface Attempt extends ConnectRequest {
  readonly deps: OpeningDeps;
  readonly mask: Mask;
  /** Longest wait for the handshake, over all ways to make it together. */
  readonly timeoutMs: number;
  readonly startedAt: number;
}

type ConfigOf<T extends McpServerConfig['type']> = Extract<McpServerConfig, { type: T }>;

/** Long enough for `npx` to download a server. */
const HANDSHAKE_TIMEOUT_MS = 30_000;
const STOP_GRACE_MS = 1_000;
const PING_INTERVAL_MS = 15_000;
const OWN_COMMAND = 'agent-service';
/** How servers from before Streamable HTTP answer the first message. */
const OLD_SERVER_STATUSES = [400, 404, 405];

/** Rejects with a message for people, and leaves nothing behind, when the server does not answer the handshake. */
export async function openConnection(
  deps: OpeningDeps,
  request: ConnectRequest,
): Promise<ToolServerConnection> {
  const { config } = request;
  const timeoutMs = config.timeout ?? HANDSHAKE_TIMEOUT_MS;
  const attempt = { ...request, deps, mask: secretMask(config), timeoutMs, startedAt: performance.now() };
  if (config.type === 'stdio') return await openStdio(attempt, config);
  const access = asksForOAuth(config)
    ? await deps.authorizations?.authorizationOf(request.name, config)
    : undefined;
  return await openHttp({ ...attempt, ...(access && { mask: access.mask }) }, config, access ?? null);
}

async function openStdio(attempt: Attempt, config: ConfigOf<'stdio'>): Promise<McpConnection> {
  const open = (probes: boolean) => {
    const transport = stdioTransport(attempt, config);
    return handshake(attempt, { transport, probes, limitMs: remainingMs(attempt) });
  };
  try {
    return await open(true);
  } catch (error) {
    // Some older servers exit when their first message is not the handshake that they know.
    if (!(error instanceof HandshakeError) || !error.endedProbe || attempt.signal.aborted) throw error;
    return await open(false);
  }
}

function stdioTransport(attempt: Attempt, config: ConfigOf<'stdio'>): StdioTransport {
  const { deps, name, mask, events } = attempt;
  const { log } = deps;
  return new StdioTransport({
    ...programOf(config, deps.ownProgram),
    running: deps.running,
    cwd: config.cwd,
    environment: serverEnvironment(deps, config.env ?? {}, process.platform),
    stderr: new StderrLog({
      log,
      server: name,
      mask,
      onLine: (text) => events.onNote({ source: 'stderr', text }),
    }),
    onGarbage: (line) => {
      log.debug({ server: name, line }, 'tool server wrote a line to stdout that is no message');
      events.onNote({ source: 'stdout', text: line });
    },
    graceMs: deps.stopGraceMs ?? STOP_GRACE_MS,
    mask,
  });
}

/** The service itself as a tool server runs on the Node of this process, and needs no place on the PATH. */
function programOf({ command, args = [] }: ConfigOf<'stdio'>, [own, ...ownArgs]: OwnProgram) {
  return command === OWN_COMMAND ? { command: own, args: [...ownArgs, ...args] } : { command, args };
}

/** Connects over Streamable HTTP, or over the older HTTP with SSE when the server knows only that. */
async function openHttp(
  attempt: Attempt,
  config: ConfigOf<'http'>,
  access: ServerAuthorization | null,
): Promise<McpConnection> {
  const { deps, mask } = attempt;
  const endpoint = httpEndpoint(config, { mask, access });
  const pingIntervalMs = deps.pingIntervalMs ?? PING_INTERVAL_MS;
  const open = async (transport: ServerTransport, probes: boolean) =>
    await handshake(attempt, { transport, probes, limitMs: remainingMs(attempt), pingIntervalMs });
  try {
    return await open(new StreamableTransport(endpoint), true);
  } catch (error) {
    if (!isOldServer(error)) throw error;
    try {
      const { SseTransport } = await import('./http/sse-transport.ts');
      return await open(new SseTransport(endpoint), false);
    } catch (sseError) {
      deps.log.debug({ server: attempt.name, err: sseError }, 'the older MCP transport failed too');
      // The answer to the current protocol tells more than the lack of an SSE stream.
      throw attempt.signal.aborted ? sseError : error;
    }
  }
}

interface HandshakeOptions {
  readonly transport: ServerTransport;
  /** Whether the server may be of the newest revision. */
  readonly probes: boolean;
  readonly limitMs: number;
  readonly pingIntervalMs?: number;
}

/** Connects over the transport. When the handshake fails, the transport is closed before this rejects. */
async function handshake(attempt: Attempt, options: HandshakeOptions): Promise<McpConnection> {
  const { deps, name, events, mask, signal, config } = attempt;
  const { transport, limitMs, probes, pingIntervalMs } = options;
  const clientInfo = { name: 'agent-service', version: deps.clientVersion };
  const answers = answersFor(config, deps.answers);
  const client = new McpClient({ transport, mask, clientInfo, answers, events });
  try {
    signal.throwIfAborted();
    const hello = await within(limitMs, client.connect({ probes }), undefined, signal);
    if (hello === undefined) throw new RequestTimeoutError(attempt.timeoutMs);
    if (transport.endReason !== undefined) throw new Error(transport.endReason);
    // No `await` from here on: nobody would notice an end of the connection in between.
    const { log, schemas } = deps;
    const { timeout: timeoutMs } = config;
    return new McpConnection({
      name,
      log,
      schemas,
      mask,
      events,
      client,
      hello,
      transport,
      timeoutMs,
      pingIntervalMs,
    });
  } catch (error) {
    const reason = transport.endReason ?? transport.explain(failureText(error, mask));
    const endedProbe = client.isProbing && transport.hasExited === true;
    await transport.close();
    throw new HandshakeError(signal.aborted ? 'connecting was cancelled' : reason, endedProbe, error);
  }
}

function remainingMs({ timeoutMs, startedAt }: Attempt): number {
  return Math.max(1, Math.ceil(timeoutMs - (performance.now() - startedAt)));
}

/** A failed handshake. The message is for people; `cause` is the error behind it. */
class HandshakeError extends Error {
  override readonly name = 'HandshakeError';
  /** The server exited when it was asked in the newest way. */
  readonly endedProbe: boolean;

  constructor(message: string, endedProbe: boolean, cause: unknown) {
    super(message, { cause });
    this.endedProbe = endedProbe;
  }
}

function isOldServer(error: unknown): boolean {
  if (!(error instanceof HandshakeError) || !(error.cause instanceof HttpStatusError)) return false;
  return OLD_SERVER_STATUSES.includes(error.cause.status);
}
