import type { Bus } from '../../ports/bus.ts';
import { scopeOf } from '../../ports/request-rules.ts';
import type { BackupResponse } from '../../wire/responses.ts';
import { jsonResponse, now } from '../http/http-message.ts';
import type { Route } from '../http/router.ts';
import type { Statecharts } from '../sse/statecharts.ts';
import type { SignalFanOut } from '../stream/signal-fan-out.ts';
import { agentRoutes } from './agent-routes.ts';
import { messageRoutes } from './message-routes.ts';
import { nodeRoute } from './node-route.ts';
import { serverRoutes } from './server-routes.ts';
import { sessionRoutes } from './session-routes.ts';
import { waitingCallRoutes } from './waiting-call-routes.ts';

export interface ApiDeps {
  readonly bus: Bus;
  readonly fanOut: SignalFanOut;
  readonly statecharts: Statecharts;
  readonly maxImageBytes: number | false;
}

/** The REST interface. */
export function apiRoutes({ bus, fanOut, statecharts, maxImageBytes }: ApiDeps): Route[] {
  return [
    ...messageRoutes(bus, maxImageBytes),
    ...sessionRoutes(bus, fanOut),
    ...waitingCallRoutes(bus),
    ...serverRoutes(bus),
    ...agentRoutes(bus, maxImageBytes),
    nodeRoute(bus),
    statecharts.route(),
    {
      method: 'POST',
      path: '/api/backup',
      access: scopeOf('log.backup'),
      handler: async ({ context }) => {
        const copy = await bus.send('log.backup', {}, context);
        return jsonResponse<BackupResponse>({ status: 'written', ...copy, timestamp: now() });
      },
    },
    {
      method: 'GET',
      path: '/api/config.yaml',
      access: scopeOf('config.export'),
      handler: async ({ context }) => {
        const body = await bus.send('config.export', {}, context);
        return { status: 200, headers: { 'Content-Type': 'application/yaml' }, body };
      },
    },
  ];
}
