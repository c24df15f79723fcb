import type { Scope } from '../../core/access/scopes.ts';
import type { AgentIdentity } from '../../core/agent-description.ts';
import { ServiceError } from '../../core/errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import type { HealthResponse, ReadyResponse } from '../../wire/responses.ts';
import { jsonResponse, now } from '../http/http-message.ts';
import type { Route } from '../http/router.ts';

export interface HealthDeps {
  readonly bus: Bus;
  /** The identity of the agent that a request is for. */
  readonly identity: (context: RequestContext) => AgentIdentity;
  readonly version: string;
  /** Seconds since the service started. */
  readonly uptime: () => number;
  /** Whether clients are authenticated. Then the open probe says nothing about the configuration. */
  readonly isSecured?: boolean;
}

/** Served in every mode: `/api/health`, and the liveness and readiness probes for orchestrators. */
export function healthRoutes({ bus, identity, version, uptime, isSecured = false }: HealthDeps): Route[] {
  const report = async (
    context: RequestContext,
    log?: HealthResponse['log'],
    isOpen = false,
  ): Promise<HttpResponse> => {
    const servers = await bus.send('mcp-server.list', {}, context);
    const warnings = isOpen && isSecured ? [] : await warningsFor(bus, context);
    const connectedServers = servers.filter(({ status }) => status === 'connected').length;
    return jsonResponse<HealthResponse>({
      status: 'healthy',
      version,
      uptime: uptime(),
      agent: { ...identity(context), status: 'ready', connectedServers },
      ...(warnings.length > 0 && { warnings }),
      ...(log && { log }),
      timestamp: now(),
    });
  };
  return [
    {
      method: 'GET',
      path: '/api/health',
      access: null,
      handler: async ({ context }) => report(context, await log(bus, context)),
    },
    // Liveness must not depend on a disk.
    {
      method: 'GET',
      path: '/healthz',
      access: 'open',
      handler: ({ context }) => report(context, undefined, true),
    },
    { method: 'GET', path: '/readyz', access: 'open', handler: ({ context }) => readiness(bus, context) },
  ];
}

/** Warnings name tool servers, tools and nodes, so not everybody may read them. */
async function warningsFor(bus: Bus, context: RequestContext): Promise<readonly string[]> {
  return may(context, 'servers:read') ? bus.send('warning.list', {}, context) : [];
}

/** The size of the log says how much all tenants do, so not everybody may know it. */
async function log(bus: Bus, context: RequestContext): Promise<HealthResponse['log']> {
  if (!may(context, 'metrics:read')) return undefined;
  const size = await bus.send('log.size', {}, context);
  return size === null ? undefined : { bytes: size.databaseBytes + size.walBytes, events: size.events };
}

/** Everybody may everything where clients are not authenticated. */
function may({ rights }: RequestContext, scope: Scope): boolean {
  return !rights || rights.scopes.has(scope);
}

async function readiness(bus: Bus, context: RequestContext): Promise<HttpResponse> {
  const problems = await bus.send('readiness.check', {}, context);
  if (problems.length === 0) return jsonResponse<ReadyResponse>({ status: 'ready', timestamp: now() });
  throw new ServiceError('SERVICE_UNAVAILABLE', 'The service is not ready.', {
    reason: problems.join('; '),
    retryAfter: 5,
  });
}
