import type { AgentId } from '../../core/agent-description.ts';
import { ServiceError } from '../../core/errors.ts';
import { percentDecodedIfValid } from '../../core/percent-decoded.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Handshake, HttpRequest } from '../../ports/web-server.ts';
import type { ServedRequest } from '../http/http-message.ts';
import { parseJson } from '../requests/json-text.ts';

/** Between `/agents/` and the path of the agent. */
const PATH = /^\/agents\/([^/]*)(\/.*)?$/;
/** Costs less than parsing each body. */
const NAMES_AGENT = /"agent"\s*:/;

/** A request, with the agent that its path or its query names. */
export type AgentRequest<R extends Handshake = HttpRequest> = R & {
  /** Undefined if neither names one. */
  readonly agent?: AgentId | undefined;
  /** What stood before the path, such as `/agents/support`. Absent if the path names no agent. */
  readonly prefix?: string | undefined;
};

/** Which agent a request is for. */
export class AgentChoice {
  readonly #ids: readonly AgentId[];
  /** What somebody is told whom nobody knows yet. */
  readonly #toldToAll: readonly AgentId[] | undefined;

  /**
   * @param ids of all agents. The first one answers the requests that name none.
   * @param isSecured whether clients are authenticated. Then the ids are not for everybody.
   */
  constructor(ids: readonly AgentId[], isSecured: boolean) {
    this.#ids = ids;
    this.#toldToAll = isSecured ? undefined : ids;
  }

  get first(): AgentId | undefined {
    return this.#ids[0];
  }

  /** Reads path and query. Throws `AGENT_NOT_FOUND`. */
  of<R extends Handshake>(request: AgentRequest<R>): AgentRequest<R> {
    if (request.agent !== undefined) return request;
    const [, inPath, path = '/'] = PATH.exec(request.path) ?? [];
    if (inPath !== undefined) {
      const agent = this.#known(percentDecodedIfValid(inPath), this.#toldToAll);
      return { ...request, path, agent, prefix: agentPathPrefix(agent) };
    }
    const inQuery = request.query.includes('agent=') ? new URLSearchParams(request.query).get('agent') : null;
    return { ...request, agent: inQuery === null ? undefined : this.#known(inQuery, this.#toldToAll) };
  }

  /**
   * The agent of a request whose path and query name none: the field `agent` of its body, or the first one. Throws
   * `AGENT_NOT_FOUND`.
   */
  async ofBody(request: ServedRequest): Promise<AgentId | undefined> {
    const inBody = isJson(request) ? await this.#inBody(request) : undefined;
    return inBody ?? this.first;
  }

  async #inBody(request: ServedRequest): Promise<AgentId | undefined> {
    const text = new TextDecoder().decode(await request.body());
    if (!NAMES_AGENT.test(text)) return undefined;
    const named = agentField(text);
    return named === undefined ? undefined : this.#known(named, this.#ids);
  }

  #known(agentId: unknown, told: readonly AgentId[] | undefined): AgentId {
    if (typeof agentId === 'string' && this.#ids.includes(agentId)) return agentId;
    throw noSuchAgent(String(agentId), told);
  }
}

/** @param available the agents that there are; left out for whoever may not know them. */
export function noSuchAgent(agentId: string, available: readonly AgentId[] | undefined): ServiceError {
  return new ServiceError('AGENT_NOT_FOUND', `There is no agent ${agentId}.`, {
    agentId,
    ...(available && { available }),
    suggestion: 'GET /api/agents lists them.',
  });
}

/** What the paths of one of several agents begin with. */
export function agentPathPrefix(agentId: AgentId): string {
  return `/agents/${agentId}`;
}

/** The path without the agent in front. */
export function withoutAgentPrefix(path: string): string {
  return PATH.exec(path)?.[2] ?? path;
}

/** @param agent undefined leaves the context as it is. */
export function forAgent(context: RequestContext, agent: AgentId | undefined): RequestContext {
  return agent === undefined ? context : { ...context, agent, agentPath: agentPathPrefix(agent) };
}

function isJson({ method, headers }: ServedRequest): boolean {
  return method !== 'GET' && method !== 'HEAD' && /\bjson\b/i.test(headers.get('content-type') ?? '');
}

/** The route itself refuses what is not valid JSON. */
function agentField(text: string): unknown {
  try {
    const body = parseJson(text);
    return typeof body === 'object' && body !== null && 'agent' in body ? body.agent : undefined;
  } catch {
    return undefined;
  }
}
