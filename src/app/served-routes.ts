import type { AgentConfig } from '../config/schema/agent-config.ts';
import type { Settings } from '../config/settings.ts';
import type { AgentIdentity } from '../core/agent-description.ts';
import type { RequestContext } from '../core/request/request-context.ts';
import { a2aRoutes } from '../gateway/a2a/a2a-routes.ts';
import { pushKeysRoute } from '../gateway/a2a/push-routes.ts';
import { agUiRoutes } from '../gateway/ag-ui/ag-ui-routes.ts';
import { consoleRoutes } from '../gateway/console/console-routes.ts';
import { indexRoute } from '../gateway/console/index-route.ts';
import { documentRoutes } from '../gateway/documents/document-routes.ts';
import type { Route } from '../gateway/http/router.ts';
import { openAiRoutes } from '../gateway/openai/openai-routes.ts';
import { apiRoutes } from '../gateway/routes/api-routes.ts';
import { healthRoutes } from '../gateway/routes/health-routes.ts';
import { inspectRoute } from '../gateway/routes/inspect-route.ts';
import { metricsRoutes } from '../gateway/routes/metrics-routes.ts';
import { oauthCallbackRoute } from '../gateway/routes/oauth-callback-route.ts';
import type { Statecharts } from '../gateway/sse/statecharts.ts';
import type { SignalFanOut } from '../gateway/stream/signal-fan-out.ts';
import { handshakeRoute } from '../gateway/websocket/handshake-route.ts';
import type { WebSocketFront } from '../gateway/websocket/websocket-front.ts';
import type { Authenticator } from '../ports/authenticator.ts';
import type { Bus } from '../ports/bus.ts';
import type { Logger } from '../ports/logger.ts';
import type { MetricHistory } from '../ports/metrics.ts';
import type { ClientAccess } from './access/client-access.ts';
import type { AgentHost } from './agents/hosted-agents.ts';
import { consoleFiles } from './console-files.ts';
import { publicBaseOf } from './public-base.ts';

export interface RouteDeps {
  readonly host: AgentHost;
  readonly settings: Pick<Settings, 'mode' | 'inspect'>;
  readonly version: string;
  readonly log: Logger;
  readonly server: AgentConfig['server'];
  readonly clients: ClientAccess | undefined;
  /** As clients may use it. */
  readonly bus: Bus;
  readonly unguarded: Bus;
  readonly authenticator: Authenticator;
  readonly fanOut: SignalFanOut;
  readonly statecharts: Statecharts;
  readonly webSocket: WebSocketFront;
  readonly history: MetricHistory;
  readonly maxRequestBytes: number | false;
}

/** Probes and metrics in every mode. In web mode also the console, the documents and the REST interface. */
export function servedRoutes({
  host,
  clients,
  bus,
  unguarded,
  settings,
  version,
  ...deps
}: RouteDeps): Route[] {
  const { authenticator, fanOut, statecharts, webSocket, history, maxRequestBytes, log, server } = deps;
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
    // The `state` admits the answer: a browser that comes back has no credentials of the service.
    oauthCallbackRoute(unguarded),
    ...apiRoutes({ bus, fanOut, statecharts, maxImageBytes: maxRequestBytes }),
    ...openAiRoutes({ bus, fanOut, maxImageBytes: maxRequestBytes }),
    // Receivers of push notifications have no credential.
    pushKeysRoute(unguarded),
    ...a2aRoutes({
      bus,
      fanOut,
      authenticator,
      maxImageBytes: maxRequestBytes,
      log,
      card: {
        bus,
        identity,
        version,
        baseOf: (request) => publicBaseOf(server, request),
        security: clients?.cardSecurity ?? {},
      },
    }),
    ...agUiRoutes({ bus, fanOut, maxImageBytes: maxRequestBytes }),
  ];
}
