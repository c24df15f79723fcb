import type { Log } from '../../ports/log.ts';
import type { ToolServerConnection } from '../../ports/tool-server.ts';
import type { ConnectRequest } from './attempt.ts';
import { secretMask } from './failure/secret-mask.ts';
import { handshake } from './handshake.ts';
import { serverEnvironment } from './stdio/server-environment.ts';
import { StderrLog } from './stdio/stderr-log.ts';
import { StdioTransport } from './stdio/stdio-transport.ts';

export interface McpConnectorDeps {
  readonly log: Log;
  /** The service's own environment; a server process gets a small allow-list of it. */
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  /** Appended to a server's PATH, so that the servers that come with the service are found. */
  readonly binFolders: readonly string[];
  /** Told to every server. */
  readonly clientVersion: string;
  /** How often a server behind HTTP is asked whether it is still there. */
  readonly pingIntervalMs?: number;
  /** How long a server process may take to stop before the next, harder, request. */
  readonly stopGraceMs?: number;
}

/** Long enough for `npx` to download a server. */
const HANDSHAKE_TIMEOUT_MS = 30_000;
const STOP_GRACE_MS = 1_000;

export async function openConnection(
  deps: McpConnectorDeps,
  request: ConnectRequest,
): Promise<ToolServerConnection> {
  const mask = secretMask(request.config);
  const timeoutMs = request.config.timeout ?? HANDSHAKE_TIMEOUT_MS;
  const attempt = { ...request, mask, timeoutMs, log: deps.log, clientVersion: deps.clientVersion };
  const { config, name } = request;
  if (config.type === 'http') {
    const { openHttp } = await import('./http/http-connection.ts');
    return await openHttp(attempt, config, deps.pingIntervalMs);
  }

  const transport = new StdioTransport({
    command: config.command,
    args: config.args ?? [],
    cwd: config.cwd,
    environment: serverEnvironment(deps, config.env ?? {}, process.platform),
    stderr: new StderrLog(deps.log, name, mask),
    noteGarbage: (fields, message) => deps.log.debug({ server: name, ...fields }, message),
    graceMs: deps.stopGraceMs ?? STOP_GRACE_MS,
    mask,
  });
  return await handshake(attempt, transport, timeoutMs);
}
