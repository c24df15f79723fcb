import { isIPv4 } from 'node:net';
import { UwsBroadcast } from '../adapters/uws/uws-broadcast.ts';
import { UwsServer } from '../adapters/uws/uws-server.ts';
import type { AgentConfig } from '../config/schema/agent-config.ts';
import type { Settings } from '../config/settings.ts';
import { encodedBytes } from '../core/size-limits.ts';
import { a2aErrors } from '../gateway/a2a/a2a-routes.ts';
import { AgentChoice, withoutAgentPrefix } from '../gateway/agents/agent-choice.ts';
import { bodyLimits } from '../gateway/http/body-limits.ts';
import { HttpFront } from '../gateway/http/http-front.ts';
import { Router } from '../gateway/http/router.ts';
import { McpEndpoint } from '../gateway/mcp/mcp-endpoint.ts';
import { openAiErrors } from '../gateway/openai/openai-routes.ts';
import { ResponsesFront } from '../gateway/openai/socket/responses-front.ts';
import { anyone } from '../gateway/security/anyone.ts';
import type { ClientAddress } from '../gateway/security/client-address.ts';
import { Cors } from '../gateway/security/cors.ts';
import { OpenConnections } from '../gateway/security/open-connections.ts';
import { OriginPolicy } from '../gateway/security/origin-policy.ts';
import { rateLimits } from '../gateway/security/rate-limits.ts';
import { Statecharts } from '../gateway/sse/statecharts.ts';
import { SignalFanOut } from '../gateway/stream/signal-fan-out.ts';
import { WebSocketFront } from '../gateway/websocket/websocket-front.ts';
import type { Logger } from '../ports/logger.ts';
import type { Peers } from '../ports/peers.ts';
import { oneBus } from '../runtime/agents/agents-bus.ts';
import { within } from '../timing/deadline.ts';
import { LoopPace } from '../timing/loop-pace.ts';
import type { ClientAccess } from './access/client-access.ts';
import type { AgentHost } from './agents/hosted-agents.ts';
import { McpEndpoints } from './agents/mcp-endpoints.ts';
import { callbackUrl, publicHost } from './callback-url.ts';
import { closeInOrder } from './close-in-order.ts';
import { localUrl } from './local-url.ts';
import { bodyBudget } from './memory-budgets.ts';
import { showGateway } from './metrics/gateway-metrics.ts';
import { MetricRing } from './metrics/metric-ring.ts';
import { showProcess } from './metrics/process-metrics.ts';
import { servedRoutes } from './served-routes.ts';
import { socketFronts } from './socket-fronts.ts';

export interface HttpOptions {
  readonly host: AgentHost;
  /** Absent where clients are not authenticated. */
  readonly access?: ClientAccess | undefined;
  readonly config: AgentConfig;
  readonly settings: Pick<Settings, 'mode' | 'host' | 'port' | 'inspect' | 'inspectToken'>;
  readonly version: string;
  readonly log: Logger;
  /** The other nodes of a cluster. */
  readonly peers?: Peers | undefined;
}

export interface HttpService {
  readonly port: number;
  /**
   * Refuses messages and waits up to `server.drainTimeoutMs` for running turns, whose streams stay open. Then closes
   * sockets and agent.
   */
  close(): Promise<void>;
}

/**
 * How many requests that change something begin in one turn of the event loop. Of 500 messages that come together, the last ones
 * begin some ten turns later. They end sooner all the same: what a message needs until it is stored then seldom outlives a
 * collection of V8's young generation, which copies whatever is still in use.
 */
const MAX_BEGUN_IN_TURN = 32;

/** uWebSockets.js needs a limit even if the agent file sets none. */
const UNLIMITED_PAYLOAD_BYTES = 1024 * 1024 * 1024;

/** Puts the protocols in front of the agents: all of them in web mode, MCP and the probes in mcp mode. */
export async function serveHttp({
  host,
  access: clients,
  config,
  settings,
  version,
  log,
  peers,
}: HttpOptions): Promise<HttpService> {
  const { metrics } = host;
  const unguarded = oneBus(new Map([...host.agents].map(([agentId, agent]) => [agentId, agent.bus])));
  const bus = clients?.bus ?? unguarded;
  const agents =
    host.agents.size > 1 ? new AgentChoice([...host.agents.keys()], clients !== undefined) : undefined;
  const { cors: corsConfig, server, limits: limitsConfig } = config;
  const maxRequestBytes = limitsConfig.requestBytes;

  const limits = rateLimits(limitsConfig);
  const clientAddress = await chooseClientAddress(settings.host, server.trustProxy);
  const originPolicy = new OriginPolicy({
    listenHost: settings.host,
    allowedHosts: [...server.allowedHosts, ...publicHost(server.publicUrl)],
    allowedOrigins: corsConfig.origins,
  });
  const cors = new Cors(corsConfig, originPolicy);
  const broadcast = new UwsBroadcast();
  const fanOut = new SignalFanOut(bus, broadcast);
  const statecharts = new Statecharts(bus);
  const authenticator = clients?.authenticator ?? anyone;
  const clientLimits = clients?.limits;
  const connections = new OpenConnections(limits, clientLimits);
  const front = {
    originPolicy,
    agents,
    authenticator,
    credentials: clients?.credentials,
    limits,
    clientLimits,
    connections,
    clientAddress,
    log,
  };
  const webSocket = new WebSocketFront({ ...front, bus, fanOut, maxRequestBytes });
  const responses = new ResponsesFront({ ...front, bus, fanOut, maxRequestBytes });
  const history = new MetricRing(metrics, log);
  const routes = servedRoutes({
    host,
    clients,
    bus,
    unguarded,
    settings,
    version,
    log,
    server,
    authenticator,
    fanOut,
    statecharts,
    webSocket,
    history,
    maxRequestBytes,
  });
  const limitOf = bodyLimits(routes, maxRequestBytes);
  const router = new Router(routes);
  const mcp = new McpEndpoints(host, (agent) => {
    const card = () => ({ ...agent.identity, version, model: agent.modelLabel });
    const { exposes, secrets } = agent;
    return new McpEndpoint({
      bus,
      card,
      exposes,
      secrets,
      authenticator,
      maxRequestBytes,
      log,
      peers,
      fanOut,
    });
  });
  const pace = new LoopPace(MAX_BEGUN_IN_TURN);
  const http = new HttpFront({
    ...front,
    pace: () => pace.turn(),
    cors,
    router,
    mcp,
    protectedMcp: clients?.mcp,
    errorFormats: [openAiErrors, ...a2aErrors],
  });

  // Twice the limit, so that a frame slightly too large gets an error instead of a closed socket.
  const maxPayloadBytes =
    maxRequestBytes === false ? UNLIMITED_PAYLOAD_BYTES : 2 * encodedBytes(maxRequestBytes);
  const uws = new UwsServer({
    broadcast,
    http,
    webSockets: await socketFronts({
      host,
      clients,
      clientAddress,
      settings,
      originPolicy,
      webSocket,
      responses,
    }),
    bodyLimit: (path) => limitOf(withoutAgentPrefix(path)),
    bodies: bodyBudget(),
    maxPayloadBytes,
    log,
  });
  const sockets = [webSocket, responses];
  showGateway(metrics, { http, limits, refusals: clients?.refusals, statecharts, sockets, mcp });
  const port = await uws.listen(settings.host, settings.port);
  const base = server.publicUrl ?? localUrl(settings.host, port);
  for (const [agentId, { authorizations }] of host.agents)
    authorizations?.returnTo(settings.mode === 'web' ? callbackUrl(base, agents && agentId) : null);
  const stopWatching = showProcess(metrics, version);
  history.start();

  return {
    port,
    async close() {
      uws.drain();
      const until = performance.now() + server.drainTimeoutMs;
      await closeInOrder(
        () => host.drain(server.drainTimeoutMs),
        // The turns that clients of this node wait for may go on at another one.
        () => peers && within(Math.max(0, until - performance.now()), uws.answered(), undefined),
        // Before the sockets, so that no client of MCP counts as one that has left, which would cancel its turn.
        () => mcp[Symbol.dispose](),
        () => uws.end(),
        () => history[Symbol.dispose](),
        () => clients?.close(),
        () => host.close(),
        () => uws.close(),
        stopWatching,
      );
    },
  };
}

/** A service that listens on an IPv4 address and trusts no proxy takes addresses as they are, and loads no parser. */
async function chooseClientAddress(
  host: string,
  trustProxy: AgentConfig['server']['trustProxy'],
): Promise<ClientAddress> {
  if (trustProxy === false && isIPv4(host)) return (peerAddress) => peerAddress;
  const { clientAddresses } = await import('../gateway/security/client-address.ts');
  return clientAddresses(trustProxy);
}
