import { isIPv4 } from 'node:net';
import { UwsBroadcast } from '../adapters/uws/uws-broadcast.ts';
import { UwsServer } from '../adapters/uws/uws-server.ts';
import type { AgentConfig } from '../config/schema/agent-config.ts';
import type { Settings } from '../config/settings.ts';
import type { AgentIdentity } from '../core/agent-description.ts';
import type { RequestContext } from '../core/request/request-context.ts';
import { encodedBytes } from '../core/size-limits.ts';
import { a2aErrors, a2aRoutes } from '../gateway/a2a/a2a-routes.ts';
import { pushKeysRoute } from '../gateway/a2a/push-routes.ts';
import { agUiRoutes } from '../gateway/ag-ui/ag-ui-routes.ts';
import { AgentChoice, pathOfAgent } from '../gateway/agents/agent-choice.ts';
import { consoleRoutes } from '../gateway/console/console-routes.ts';
import { indexRoute } from '../gateway/console/index-route.ts';
import type { InspectFront } from '../gateway/console/inspect-front.ts';
import { documentRoutes } from '../gateway/documents/document-routes.ts';
import { HttpFront } from '../gateway/http/http-front.ts';
import { type Route, Router } from '../gateway/http/router.ts';
import { McpEndpoint } from '../gateway/mcp/mcp-endpoint.ts';
import { openAiErrors, openAiRoutes } from '../gateway/openai/openai-routes.ts';
import { ResponsesFront } from '../gateway/openai/socket/responses-front.ts';
import { bodyLimit } from '../gateway/requests/body-limit.ts';
import { apiRoutes } from '../gateway/routes/api-routes.ts';
import { healthRoutes } from '../gateway/routes/health-routes.ts';
import { inspectRoute } from '../gateway/routes/inspect-route.ts';
import { metricsRoutes } from '../gateway/routes/metrics-routes.ts';
import { oauthCallbackRoute } from '../gateway/routes/oauth-callback-route.ts';
import { Access } from '../gateway/security/access.ts';
import { anyone } from '../gateway/security/anyone.ts';
import type { ClientAddress } from '../gateway/security/client-address.ts';
import { Cors } from '../gateway/security/cors.ts';
import { OpenConnections } from '../gateway/security/open-connections.ts';
import { rateLimits } from '../gateway/security/rate-limits.ts';
import { Statecharts } from '../gateway/sse/statecharts.ts';
import { SignalFanOut } from '../gateway/stream/signal-fan-out.ts';
import { handshakeRoute } from '../gateway/websocket/handshake-route.ts';
import { WebSocketFront } from '../gateway/websocket/websocket-front.ts';
import type { Bus } from '../ports/bus.ts';
import type { Logger } from '../ports/logger.ts';
import type { MetricHistory } from '../ports/metrics.ts';
import type { Peers } from '../ports/peers.ts';
import type { SocketFront } from '../ports/web-server.ts';
import { oneBus } from '../runtime/agents/agents-bus.ts';
import type { ClientAccess } from './access/client-access.ts';
import type { AgentHost } from './agents/hosted-agents.ts';
import { McpEndpoints } from './agents/mcp-endpoints.ts';
import { callbackUrl, publicHost } from './callback-url.ts';
import type { Agent } from './compose.ts';
import { consoleFiles } from './console-files.ts';
import { localUrl } from './local-url.ts';
import { showGateway } from './metrics/gateway-metrics.ts';
import { MetricRing } from './metrics/metric-ring.ts';
import { showProcess } from './metrics/process-metrics.ts';
import { publicBaseOf } from './public-base.ts';

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

/** uWebSockets.js needs a limit even if the agent file sets none. */
const UNLIMITED_PAYLOAD_BYTES = 1024 * 1024 * 1024;

/** Puts the protocols in front of the agent: REST, WebSocket and MCP in web mode, MCP and the probes in mcp mode. */
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
  const agents = host.agents.size > 1 ? new AgentChoice([...host.agents.keys()]) : undefined;
  const { cors: corsConfig, server, limits: limitsConfig } = config;
  const maxRequestBytes = limitsConfig.requestBytes;

  const limits = rateLimits(limitsConfig);
  const clientAddress = await chooseClientAddress(settings.host, server.trustProxy);
  const access = new Access({
    listenHost: settings.host,
    allowedHosts: [...server.allowedHosts, ...publicHost(server.publicUrl)],
    allowedOrigins: corsConfig.origins,
  });
  const cors = new Cors(corsConfig, access);
  const broadcast = new UwsBroadcast();
  const fanOut = new SignalFanOut(bus, broadcast);
  const statecharts = new Statecharts(bus);
  const authenticator = clients?.authenticator ?? anyone;
  const clientLimits = clients?.limits;
  const connections = new OpenConnections(limits, clientLimits);
  const front = {
    access,
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
  const routes = routesOf({
    ...{ host, clients, bus, unguarded, settings, version, log, server },
    ...{ fanOut, statecharts, webSocket, history, maxRequestBytes },
  });
  const router = new Router(routes);
  const mcp = new McpEndpoints(host, (agent) => {
    const card = () => ({ ...agent.identity, version, model: agent.modelLabel });
    const { exposes, secrets } = agent;
    return new McpEndpoint({ bus, card, exposes, secrets, maxRequestBytes, log, peers, fanOut });
  });
  const http = new HttpFront({
    ...{ ...front, cors, router, mcp },
    protectedMcp: clients?.mcp,
    errorFormats: [openAiErrors, ...a2aErrors],
  });

  // Twice the limit, so that a frame slightly too large gets an error instead of a closed socket.
  const maxPayloadBytes =
    maxRequestBytes === false ? UNLIMITED_PAYLOAD_BYTES : 2 * encodedBytes(maxRequestBytes);
  const uws = new UwsServer({
    broadcast,
    http,
    webSockets: await socketFronts({ host, clients, clientAddress, settings, access, webSocket, responses }),
    bodyLimit: (path) => bodyLimit(pathOfAgent(path), maxRequestBytes),
    maxPayloadBytes,
    log,
  });
  showGateway(metrics, { http, limits, refusals: clients?.refusals, fanOut, statecharts, webSocket, mcp });
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
      await host.drain(server.drainTimeoutMs);
      // First, so that no client of MCP counts as one that has left, which would cancel its turn.
      mcp[Symbol.dispose]();
      uws.end();
      history[Symbol.dispose]();
      await clients?.close();
      await host.close();
      uws.close();
      stopWatching();
    },
  };
}

interface RouteDeps extends Pick<HttpOptions, 'host' | 'settings' | 'version' | 'log'> {
  readonly server: AgentConfig['server'];
  readonly clients: ClientAccess | undefined;
  /** As clients may use it. */
  readonly bus: Bus;
  readonly unguarded: Bus;
  readonly fanOut: SignalFanOut;
  readonly statecharts: Statecharts;
  readonly webSocket: WebSocketFront;
  readonly history: MetricHistory;
  readonly maxRequestBytes: number | false;
}

/** Probes and metrics in every mode. In web mode also the console, the documents and the REST interface. */
function routesOf({ host, clients, bus, unguarded, settings, version, ...deps }: RouteDeps): Route[] {
  const { fanOut, statecharts, webSocket, history, maxRequestBytes, log, server } = deps;
  const { metrics, first } = host;
  const identity = ({ agent }: RequestContext): AgentIdentity => (host.agents.get(agent) ?? first).identity;
  const always = [
    ...(clients?.routes.always ?? []),
    ...healthRoutes({
      bus: unguarded,
      identity,
      version,
      uptime: () => process.uptime(),
      isSecured: clients !== undefined,
    }),
    inspectRoute(settings.inspect !== undefined),
    ...metricsRoutes(metrics, history, clients?.isPublic('metrics') ? 'open' : 'metrics:read'),
  ];
  if (settings.mode !== 'web') return always;
  return [
    ...always,
    ...(clients?.routes.web ?? []),
    ...consoleRoutes({
      files: consoleFiles(),
      index: handshakeRoute(webSocket, indexRoute(version, identity)),
      providerOrigins: clients?.providerOrigins,
    }),
    ...documentRoutes(version, {
      isSecured: clients !== undefined,
      hasKeys: first.keys !== undefined,
      isPublic: clients?.isPublic('docs') ?? true,
    }),
    // Its `state` is what admits the answer: a browser that comes back has no credentials of the service.
    oauthCallbackRoute(unguarded),
    ...apiRoutes({ bus, fanOut, statecharts, maxImageBytes: maxRequestBytes }),
    ...openAiRoutes({ bus, fanOut, maxImageBytes: maxRequestBytes }),
    // Receivers of push notifications have no credential.
    pushKeysRoute(unguarded),
    ...a2aRoutes({
      ...{ bus, fanOut, maxImageBytes: maxRequestBytes, log },
      card: {
        ...{ bus, identity, version },
        baseOf: (request) => publicBaseOf(server, request),
        security: clients?.cardSecurity ?? {},
      },
    }),
    ...agUiRoutes({ bus, fanOut, maxImageBytes: maxRequestBytes }),
  ];
}

interface SocketDeps extends Pick<HttpOptions, 'host' | 'settings'> {
  readonly clients: ClientAccess | undefined;
  readonly clientAddress: ClientAddress;
  readonly access: Access;
  readonly webSocket: WebSocketFront;
  readonly responses: ResponsesFront;
}

/** What WebSockets connect to, by path. Each of several agents also has paths of its own. */
async function socketFronts({
  webSocket,
  responses,
  ...deps
}: SocketDeps): Promise<Record<string, SocketFront>> {
  const { host, settings } = deps;
  const fronts: Record<string, SocketFront> = {};
  if (settings.mode === 'web') {
    fronts['/'] = webSocket;
    fronts['/v1/responses'] = responses;
  }
  if (settings.inspect) fronts['/inspect'] = await inspectFront(host.first, deps);
  if (host.agents.size === 1) return fronts;
  for (const [agentId, agent] of host.agents) {
    const path = `/agents/${agentId}`;
    if (settings.mode === 'web') {
      fronts[path] = webSocket;
      fronts[`${path}/`] = webSocket;
      fronts[`${path}/v1/responses`] = responses;
    }
    if (settings.inspect) fronts[`${path}/inspect`] = await inspectFront(agent, deps);
  }
  return fronts;
}

/** Loads the inspector only when it is switched on. */
async function inspectFront(
  { machines }: Agent,
  { settings, access, clients, clientAddress }: Omit<SocketDeps, 'webSocket' | 'responses'>,
): Promise<InspectFront> {
  const { inspect, inspectToken: token } = settings;
  const { machineInspector } = await import('./inspector.ts');
  const { InspectFront } = await import('../gateway/console/inspect-front.ts');
  const attach = machineInspector(machines, { showContent: inspect === 'content' });
  return new InspectFront({ access, token, clients: clients && { ...clients, clientAddress }, attach });
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
