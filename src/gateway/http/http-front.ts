import type { ServiceError } from '../../core/errors.ts';
import { limitExceeded } from '../../core/limit-errors.ts';
import { ANYONE } from '../../core/request/request-context.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Logger } from '../../ports/logger.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/web-server.ts';
import { type AgentChoice, type AgentRequest, forAgent } from '../agents/agent-choice.ts';
import type { McpEndpoint } from '../mcp/mcp-endpoint.ts';
import { requestContext } from '../requests/authenticate.ts';
import { clientError } from '../requests/client-error.ts';
import type { Access } from '../security/access.ts';
import type { ClientAddress } from '../security/client-address.ts';
import type { Cors } from '../security/cors.ts';
import type { HeldCredentials, StreamCredential } from '../security/held-credentials.ts';
import type { ProtectedMcp } from '../security/protected-mcp.ts';
import {
  type Allowance,
  limitHeaders,
  type RateLimits,
  tooManyConnections,
} from '../security/rate-limits.ts';
import { acceptsEventStream } from './content-negotiation.ts';
import { errorResponse } from './error-response.ts';
import type { ServedRequest } from './http-message.ts';
import type { FoundRoute, Router } from './router.ts';

export interface HttpFrontDeps {
  readonly access: Access;
  readonly authenticator: Authenticator;
  /** Absent where nobody is authenticated. */
  readonly credentials?: HeldCredentials | undefined;
  readonly cors: Cors;
  readonly limits: RateLimits;
  readonly clientAddress: ClientAddress;
  readonly router: Router;
  readonly mcp: Pick<McpEndpoint, 'handle'>;
  /** Absent where there is only one agent. */
  readonly agents?: AgentChoice | undefined;
  /** Absent where nobody is authenticated. */
  readonly protectedMcp?: ProtectedMcp | undefined;
  readonly log: Logger;
}

/** Answers by the class of their status. */
export interface AnswerCounts {
  '2xx': number;
  '3xx': number;
  '4xx': number;
  '5xx': number;
}

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Handles every HTTP request: applies the rate limit, checks host and origin, identifies the client and calls the
 * endpoint. Errors become error envelopes.
 */
export class HttpFront implements HttpHandler {
  readonly #deps: HttpFrontDeps;
  readonly #answers: AnswerCounts = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 };

  constructor(deps: HttpFrontDeps) {
    this.#deps = deps;
  }

  /** Since the start. */
  get answers(): Readonly<AnswerCounts> {
    return this.#answers;
  }

  /** Never rejects. */
  async handle(sent: HttpRequest): Promise<HttpResponse> {
    let extraHeaders = this.#deps.cors.headers(sent.headers.get('origin'));
    let request: AgentRequest = sent;
    let response: HttpResponse;
    try {
      request = this.#deps.agents?.of(sent) ?? sent;
      const allowance = await this.#count(request);
      extraHeaders = { ...extraHeaders, ...limitHeaders(allowance) };
      response = await this.#answer(request, allowance);
    } catch (thrown) {
      response = this.#failure(thrown, request);
    }
    this.#answers[classOf(response.status)] += 1;
    return { ...response, headers: { ...response.headers, ...extraHeaders } };
  }

  /** Counts a REST request of an address. Paths outside of `/api/` are not limited. */
  async #count(request: HttpRequest): Promise<Allowance | null> {
    if (!request.path.startsWith('/api/')) return null;
    return this.#deps.limits.requests.take(this.#addressOf(request));
  }

  async #answer(request: AgentRequest, allowance: Allowance | null): Promise<HttpResponse> {
    const { access, cors, router, mcp } = this.#deps;
    const { method, path, headers } = request;
    const origin = headers.get('origin');
    const host = headers.get('host');
    if (allowance?.exceeded)
      throw limitExceeded(`${allowance.limit} requests per minute and address`, allowance);
    access.checkHost(host);
    if (method === 'OPTIONS') return cors.preflight(origin);
    if (path === '/mcp') {
      access.checkOrigin(origin, host);
      return this.#whileHeld(async (credential) => mcp.handle(await this.#served(request, credential)));
    }
    if (!SAFE_METHODS.includes(method)) access.checkOrigin(origin, host);
    const found = router.find(request);
    const mayStream = method === 'GET' ? path.startsWith('/api/') : found.route.mayStream === true;
    if (!mayStream || !(await acceptsEventStream(request))) return this.#dispatch(request, found);
    return method === 'GET'
      ? this.#openStream(request, found)
      : this.#whileHeld((credential) => this.#dispatch(request, found, credential));
  }

  /** @param credential of a stream, held as long as it is open. */
  async #dispatch(
    request: AgentRequest,
    { route, parameters }: FoundRoute,
    credential?: StreamCredential,
  ): Promise<HttpResponse> {
    const { access, handler } = route;
    if (access === 'open')
      return handler(
        { ...request, context: forAgent(ANYONE, request.agent ?? this.#deps.agents?.first) },
        parameters,
      );
    const identified = await this.#served(request, credential);
    this.#deps.authenticator.require?.(identified.context, access, `${route.method} ${route.path}`);
    return handler(await this.#forNamedAgent(identified, request, route), parameters);
  }

  async #served(request: AgentRequest, credential?: StreamCredential): Promise<ServedRequest> {
    const { authenticator } = this.#deps;
    const context = await requestContext(authenticator, request, this.#addressOf(request));
    credential?.hold(context);
    return { ...request, context: forAgent(context, request.agent), credential };
  }

  /** The body says which agent is meant if path and query do not. */
  async #forNamedAgent(
    served: ServedRequest,
    { agent }: AgentRequest,
    { takesArguments }: FoundRoute['route'],
  ): Promise<ServedRequest> {
    const { agents } = this.#deps;
    if (!agents || agent !== undefined || takesArguments) return served;
    return { ...served, context: forAgent(served.context, await agents.ofBody(served)) };
  }

  /** An event stream holds a connection open, so it counts against the same limit as WebSockets. */
  async #openStream(request: AgentRequest, found: FoundRoute): Promise<HttpResponse> {
    const { connections } = this.#deps.limits;
    const address = this.#addressOf(request);
    const refusal = connections.enter(address);
    if (refusal) throw tooManyConnections(refusal);
    const leave = (): void => connections.leave(address);
    return this.#whileHeld((credential) => this.#dispatch(request, found, credential), leave);
  }

  /** Holds the credential until the answer, which may be a stream, is over. Then calls `leave`. */
  async #whileHeld(
    answer: (credential: StreamCredential | undefined) => Promise<HttpResponse>,
    leave?: () => void,
  ): Promise<HttpResponse> {
    const credential = this.#deps.credentials?.forStream();
    const release = (): void => {
      credential?.release();
      leave?.();
    };
    try {
      const response = await answer(credential);
      const onOver = (): void => {
        release();
        response.onOver?.();
      };
      return { ...response, onOver };
    } catch (error) {
      release();
      throw error;
    }
  }

  #addressOf({ peerAddress, headers }: HttpRequest): string {
    return this.#deps.clientAddress(peerAddress, headers.get('x-forwarded-for'));
  }

  refuse(error: ServiceError): HttpResponse {
    return errorResponse(error);
  }

  #failure(thrown: unknown, request: AgentRequest): HttpResponse {
    const { method, path } = request;
    const error = clientError(thrown, this.#deps.log, { method, path }, 'a request failed unexpectedly');
    const response = errorResponse(error);
    const challenge = path === '/mcp' ? this.#deps.protectedMcp?.challenge(request, error) : undefined;
    return challenge ? { ...response, headers: { ...response.headers, ...challenge } } : response;
  }
}

function classOf(status: number): keyof AnswerCounts {
  if (status >= 500) return '5xx';
  if (status >= 400) return '4xx';
  return status >= 300 ? '3xx' : '2xx';
}
