import type { HealthResponse } from '../contract/responses.ts';
import type { Bus } from '../runtime/bus.ts';
import { jsonResponse, now } from './http-message.ts';
import type { Route } from './router.ts';

export interface HealthParts {
  readonly bus: Bus;
  readonly version: string;
  /** Seconds since the service started. */
  readonly uptime: () => number;
}

/** Served in every mode: the health of the spec, and the probe that orchestrators ask. */
export function healthRoutes({ bus, version, uptime }: HealthParts): Route[] {
  const health: Route['handler'] = async () => {
    const servers = await bus.send('mcp-server.list', {});
    const connectedServers = servers.filter(({ status }) => status === 'connected').length;
    return jsonResponse<HealthResponse>({
      status: 'healthy',
      version,
      uptime: uptime(),
      agent: { status: 'ready', connectedServers },
      timestamp: now(),
    });
  };
  return [
    { method: 'GET', path: '/api/health', handler: health },
    { method: 'GET', path: '/healthz', handler: health },
  ];
}
