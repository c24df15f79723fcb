import { createHash } from 'node:crypto';
import type { AgentIdentity } from '../../core/agent-description.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { agentPathPrefix } from '../agents/agent-choice.ts';
import type { ServedRequest } from '../http/http-message.ts';
import { a2aError } from './a2a-error.ts';
import { type AgentCard, agentCard, type SecurityScheme } from './agent-card.ts';

export interface CardDeps {
  readonly bus: Bus;
  /** The identity of the agent that a request is for. */
  readonly identity: (context: RequestContext) => AgentIdentity;
  readonly version: string;
  /** The public URL of the service, without a slash at its end. */
  readonly baseOf: (request: ServedRequest) => Promise<string>;
  /** How clients authenticate. Empty: they do not. */
  readonly security: Readonly<Record<string, SecurityScheme>>;
}

/** Seconds. A tool server may come and go meanwhile. */
const MAX_AGE_S = 60;

/** What everybody may see. Where nobody is authenticated, that is everything. */
export async function showCard(deps: CardDeps, request: ServedRequest): Promise<HttpResponse> {
  const isOpen = Object.keys(deps.security).length === 0;
  const body = JSON.stringify(await cardFor(deps, request, isOpen));
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const headers = { ETag: etag, 'Cache-Control': `public, max-age=${MAX_AGE_S}` };
  const known = request.headers.get('if-none-match')?.split(',') ?? [];
  if (known.some((one) => one.trim().replace(/^W\//, '') === etag))
    return { status: 304, headers, body: null };
  return { status: 200, headers: { ...headers, 'Content-Type': 'application/json' }, body };
}

/** Throws where the card that everybody sees is all there is. */
export async function extendedCard(deps: CardDeps, request: ServedRequest): Promise<AgentCard> {
  if (Object.keys(deps.security).length > 0) return cardFor(deps, request, true);
  throw a2aError('UNSUPPORTED_OPERATION', 'The agent has no extended card.', {
    suggestion: 'Get /.well-known/agent-card.json, which has everything.',
  });
}

async function cardFor(
  { bus, identity, version, baseOf, security }: CardDeps,
  request: ServedRequest,
  showsAll: boolean,
): Promise<AgentCard> {
  const { context, agent } = request;
  // The addresses of the first agent begin with nothing.
  const prefix = agent === undefined ? '' : agentPathPrefix(agent);
  return agentCard({
    identity: identity(context),
    ...(showsAll && { description: await bus.send('agent.describe', {}, context) }),
    version,
    base: `${await baseOf(request)}${prefix}`,
    security,
  });
}
