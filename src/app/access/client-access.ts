import { setTimeout as wait } from 'node:timers/promises';
import type { ServerConfig } from '../../config/schema/agent-config.ts';
import type { AuthConfig } from '../../config/schema/auth-config.ts';
import { ROLES } from '../../core/access/scopes.ts';
import type { AgentId } from '../../core/agent-description.ts';
import type { SecurityScheme } from '../../gateway/a2a/agent-card.ts';
import { cardSecurity } from '../../gateway/a2a/card-security.ts';
import { agentPathPrefix } from '../../gateway/agents/agent-choice.ts';
import type { Route } from '../../gateway/http/router.ts';
import { auditRoute } from '../../gateway/routes/audit-route.ts';
import { type Grantees, grantRoutes } from '../../gateway/routes/grant-routes.ts';
import { keyRoutes } from '../../gateway/routes/key-routes.ts';
import { type ResourceRouteDeps, resourceRoutes } from '../../gateway/routes/resource-routes.ts';
import { providerOrigins, signInRoute } from '../../gateway/routes/sign-in-route.ts';
import { ticketRoutes } from '../../gateway/routes/ticket-routes.ts';
import { whoamiRoute } from '../../gateway/routes/whoami-route.ts';
import { BearerAuthenticator } from '../../gateway/security/bearer-authenticator.ts';
import { ClientLimits } from '../../gateway/security/client-limits.ts';
import { FailedAttempts } from '../../gateway/security/failed-attempts.ts';
import { HeldCredentials } from '../../gateway/security/held-credentials.ts';
import type { ProtectedMcp } from '../../gateway/security/protected-mcp.ts';
import { Tickets } from '../../gateway/security/tickets.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Logger } from '../../ports/logger.ts';
import { nodeTopic, type Peers } from '../../ports/peers.ts';
import type { TokenVerifier } from '../../ports/token-verifier.ts';
import type { AuditTrail } from '../../runtime/access/audit-trail.ts';
import { GuardedBus } from '../../runtime/access/guarded-bus.ts';
import type { KeyBook } from '../../runtime/access/key-book.ts';
import { type ClientQuotas, LimitedRequests } from '../../runtime/access/limited-requests.ts';
import { OpenTurns } from '../../runtime/access/open-turns.ts';
import { SessionQuota } from '../../runtime/access/session-quota.ts';
import { oneBus } from '../../runtime/agents/agents-bus.ts';
import { KeyedSemaphore } from '../../timing/keyed-semaphore.ts';
import type { Agent } from '../agent.ts';
import { protectMcp } from './protect-mcp.ts';

/** Tickets of one address about which the other nodes are asked at the same time. */
const TICKET_QUESTIONS = { atOnce: 4, patienceMs: 10_000 };

export interface ClientAccessOptions {
  readonly auth: AuthConfig;
  /** By id; the first one answers the requests that name none. */
  readonly agents: ReadonlyMap<AgentId, Pick<Agent, 'bus' | 'keys' | 'grants' | 'identity' | 'openTurns'>>;
  readonly trustProxy: ServerConfig['trustProxy'];
  readonly audit: AuditTrail;
  /** The other nodes of a cluster. */
  readonly peers?: Peers | undefined;
  readonly log: Logger;
}

/** What stands between clients and the agent where clients are authenticated. */
export interface ClientAccess {
  readonly authenticator: BearerAuthenticator;
  /** The credentials of open sockets and event streams. */
  readonly credentials: HeldCredentials;
  readonly audit: Pick<AuditTrail, 'record'>;
  readonly bus: Bus;
  /** The limits of each principal and each tenant. */
  readonly limits: ClientLimits;
  /** How often a client was refused because of its limits, by what there was too much of. */
  readonly refusals: () => Readonly<Record<string, number>>;
  readonly mcp: ProtectedMcp;
  /** Routes that a service without authentication does not have: of every mode, and of web mode. */
  readonly routes: { readonly always: readonly Route[]; readonly web: readonly Route[] };
  /** Origins of the identity provider that the page of the console must reach. */
  readonly providerOrigins: readonly string[];
  /** How clients of A2A are told to authenticate. */
  readonly cardSecurity: Readonly<Record<string, SecurityScheme>>;
  /** Whether this may be read without a credential. */
  isPublic(what: AuthConfig['public'][number]): boolean;
  /** Writes what the audit trail has not written yet. Call before the log is closed. */
  close(): Promise<void>;
  /** Call when a credential was revoked: what is open with it ends. */
  revoke(credential: string): void;
}

/** Load this file only where clients are authenticated. */
export async function clientAccess(options: ClientAccessOptions): Promise<ClientAccess> {
  const keys = keysOf(options);
  const access = accessBy([...(keys ? [keys] : []), ...(await jwtVerifiers(options))], options);
  keys?.onRevoked((credential) => access.revoke(credential));
  return access;
}

/** Loads what verifies tokens of identity providers only if there are some. */
async function jwtVerifiers({ auth: { jwt, roles }, log }: ClientAccessOptions): Promise<TokenVerifier[]> {
  if (jwt.length === 0) return [];
  const { jwtVerifier } = await import('../../adapters/jwt/jwt-verifier.ts');
  return [jwtVerifier(jwt, { roles: { ...roles, ...ROLES }, log })];
}

/** @param verifiers of the kinds of tokens that are accepted. */
export function accessBy(
  verifiers: readonly TokenVerifier[],
  { auth, agents, trustProxy, audit, peers }: Omit<ClientAccessOptions, 'log'>,
): ClientAccess {
  const tickets = new Tickets(peers);
  const failures = new FailedAttempts((ms) => wait(ms, undefined, { ref: false }));
  const questions = new KeyedSemaphore(TICKET_QUESTIONS);
  const authenticator = new BearerAuthenticator({
    verifiers,
    tickets,
    failures,
    audit,
    inTurn: (address, work) => questions.run(address, work),
  });
  const credentials = new HeldCredentials((token, client, address) =>
    authenticator.identifyAgain(token, client, address),
  );
  const limits = new ClientLimits(auth.limits, audit);
  const quotas = quotasOf(auth, limits);
  const guardedBus = (agent: Pick<Agent, 'bus' | 'grants' | 'openTurns'>) =>
    guarded(agent, { quotas, credentials, audit });
  const bus = oneBus(new Map([...agents].map(([agentId, agent]) => [agentId, guardedBus(agent)])));
  for (const { grants } of agents.values()) grants?.onRevoked(() => credentials.recheck());
  const mcp = protectMcp(auth, trustProxy);
  return {
    authenticator,
    credentials,
    audit,
    bus,
    limits,
    refusals: () => ({
      ...limits.refusals,
      sessions: quotas.sessions.refusals,
      running_turns: quotas.turns.refusals,
    }),
    mcp,
    routes: {
      always: resourceRoutes({ mcp, agents: resourcesOf(agents) }),
      web: [
        signInRoute(auth),
        ...ticketRoutes(tickets, credentials),
        whoamiRoute,
        auditRoute(peers ? gatheredAudit(audit, peers) : audit),
        ...grantRoutes(bus, granteesOf(verifiers, auth)),
        ...(keysOf({ agents }) ? keyRoutes(bus) : []),
      ],
    },
    providerOrigins: providerOrigins(auth),
    cardSecurity: cardSecurity(auth),
    close: () => audit[Symbol.asyncDispose](),
    isPublic: (what) => auth.public.includes(what),
    revoke: (credential) => {
      tickets.revoke(credential);
      credentials.revoke(credential);
    },
  };
}

const FLUSH = nodeTopic<null, void>('audit.flush');

/** The trail with what the other nodes have not written yet. */
function gatheredAudit(audit: AuditTrail, peers: Peers): Pick<AuditTrail, 'read' | 'record'> {
  peers.onAsked(FLUSH, () => audit.flush());
  return {
    record: (entry) => audit.record(entry),
    async read(filter) {
      await peers.askAll(FLUSH, null);
      return audit.read(filter);
    },
  };
}

/** All agents share them. */
function quotasOf({ limits: { principal, tenant } }: AuthConfig, limits: ClientLimits): ClientQuotas {
  return {
    sessions: new SessionQuota({ principal: principal.sessions, tenant: tenant.sessions }),
    turns: new OpenTurns({ principal: principal.runningTurns, tenant: tenant.runningTurns }),
    countMessage: (client) => limits.message(client),
  };
}

/** What all agents share. */
interface Guards {
  readonly quotas: ClientQuotas;
  readonly credentials: HeldCredentials;
  readonly audit: AuditTrail;
}

function guarded(
  { bus, grants, openTurns }: Pick<Agent, 'bus' | 'grants' | 'openTurns'>,
  { quotas, credentials, audit }: Guards,
): Bus {
  if (!grants) throw new Error('an agent of a service with authentication must have owners of its sessions');
  return new GuardedBus({
    bus,
    requests: new LimitedRequests(bus, quotas, openTurns()),
    grants,
    audit,
    refuseRevoked: (client) => credentials.refuseRevoked(client),
  });
}

function granteesOf(verifiers: readonly TokenVerifier[], { roles, jwt }: AuthConfig): Grantees {
  return {
    roles: jwt.every((issuer) => issuer.roles) ? [...Object.keys(ROLES), ...Object.keys(roles)] : null,
    principals: verifiers.flatMap(({ principals }) => principals),
  };
}

/** All agents have the same keys. */
function keysOf({ agents }: Pick<ClientAccessOptions, 'agents'>): KeyBook | undefined {
  const [first] = agents.values();
  return first?.keys;
}

/** `/mcp` is that of the first agent, also where it has a path of its own. */
function resourcesOf(agents: ClientAccessOptions['agents']): ResourceRouteDeps['agents'] {
  const own = [...agents].map(([agentId, { identity }]) => ({
    prefix: agentPathPrefix(agentId),
    name: identity.name,
  }));
  const [first] = own;
  return first ? [{ name: first.name }, ...(own.length > 1 ? own : [])] : [];
}
