import { requestInterrupted, type ServiceError, serviceStopping } from '../../core/errors.ts';
import { StoreClosedError } from '../../core/log/store-closed.ts';
import { ANYONE, type RequestContext } from '../../core/request/request-context.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Logger } from '../../ports/logger.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/web-server.ts';
import { type AgentChoice, type AgentRequest, forAgent, withoutAgentPrefix } from '../agents/agent-choice.ts';
import type { McpEndpoint } from '../mcp/mcp-endpoint.ts';
import { MCP_PATH } from '../mcp/mcp-path.ts';
import { requestContext } from '../requests/authenticate.ts';
import { clientError } from '../requests/client-error.ts';
import { parseJson } from '../requests/json-text.ts';
import { decodeText } from '../requests/request-fields.ts';
import { refuseSessionInQuery } from '../requests/session-place.ts';
import type { ClientAddress } from '../security/client-address.ts';
import type { Cors } from '../security/cors.ts';
import type { HeldCredentials } from '../security/held-credentials.ts';
import type { OpenConnections } from '../security/open-connections.ts';
import type { OriginPolicy } from '../security/origin-policy.ts';
import type { ProtectedMcp } from '../security/protected-mcp.ts';
import { refusalHeaders } from '../security/rate-limits.ts';
import { RequestTally, type TallyDeps } from '../security/request-tally.ts';
import { clientBody } from './client-body.ts';
import { acceptsEventStream } from './content-negotiation.ts';
import { errorResponse } from './error-response.ts';
import type { ServedRequest } from './http-message.ts';
import { RequestUse } from './request-use.ts';
import type { FoundRoute, Router } from './router.ts';

export interface HttpFrontDeps extends TallyDeps {
  readonly originPolicy: OriginPolicy;
  readonly authenticator: Authenticator;
  /** Absent where nobody is authenticated. */
  readonly credentials?: HeldCredentials | undefined;
  readonly cors: Cors;
  readonly connections: OpenConnections;
  /** Resolves when the next request that changes something may begin; undefined if it may now. */
  readonly pace: () => Promise<void> | undefined;
  readonly clientAddress: ClientAddress;
  readonly router: Router;
  readonly mcp: Pick<McpEndpoint, 'handle'>;
  /** Absent where there is only one agent. */
  readonly agents?: AgentChoice | undefined;
  /** Absent where nobody is authenticated. */
  readonly protectedMcp?: ProtectedMcp | undefined;
  /** Of the paths on which errors have another envelope. */
  readonly errorFormats?: readonly ErrorFormat[];
  readonly log: Logger;
}

/** How errors are told on the paths of another interface. */
export interface ErrorFormat {
  readonly prefix: string;
  respond(error: ServiceError): Promise<HttpResponse>;
}

/** What a request brings before its client is known. */
interface Entry {
  readonly tally: RequestTally;
  /** Of an answer that may be a stream, or take as long as a turn. */
  readonly use?: RequestUse;
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
 * Handles every HTTP request: checks host and origin, identifies the client, applies the rate limits and calls the
 * endpoint. Errors become error envelopes.
 */
export class HttpFront implements HttpHandler {
  readonly #deps: HttpFrontDeps;
  readonly #answers: AnswerCounts = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 };
  #eventStreams = 0;

  constructor(deps: HttpFrontDeps) {
    this.#deps = deps;
  }

  /** Since the start. */
  get answers(): Readonly<AnswerCounts> {
    return this.#answers;
  }

  /** Number of open event streams, without those of MCP. */
  get eventStreams(): number {
    return this.#eventStreams;
  }

  /** Never rejects. */
  async handle(sent: HttpRequest): Promise<HttpResponse> {
    // The others do not wait: uWebSockets.js closes a connection on which a client sends the next request before the answer,
    // unless the answer comes within the same turn of the event loop.
    const mayBegin = SAFE_METHODS.includes(sent.method) ? undefined : this.#deps.pace();
    if (mayBegin) await mayBegin;
    const tally = new RequestTally(this.#deps, this.#deps.agents ? withoutAgentPrefix(sent.path) : sent.path);
    let request: AgentRequest = sent;
    let response: HttpResponse;
    try {
      request = this.#deps.agents?.of(sent) ?? sent;
      if (sent.method === 'OPTIONS') tally.preflight(this.#addressOf(sent));
      else tally.begin(this.#addressOf(sent));
      response = await this.#answer(request, tally);
    } catch (thrown) {
      response = await this.#failure(tally.refusal(thrown, this.#addressOf(sent)), request);
    }
    this.#answers[classOf(response.status)] += 1;
    return { ...response, headers: { ...tally.headers, ...this.#withCors(response, sent) } };
  }

  /** Never rejects. */
  async interrupted(request: HttpRequest): Promise<HttpResponse> {
    const response = await this.#failure(await this.#endedByStop(request), request);
    return { ...response, headers: this.#withCors(response, request) };
  }

  #withCors({ headers }: HttpResponse, request: HttpRequest): Headers {
    return withCors(headers, this.#deps.cors.headers(request.headers.get('origin')));
  }

  /** Throws, or rejects. As few layers as possible are asynchronous here: every request passes them all. */
  #answer(request: AgentRequest, tally: RequestTally): HttpResponse | Promise<HttpResponse> {
    const { originPolicy, cors, router, mcp } = this.#deps;
    const { method, path, headers } = request;
    const origin = headers.get('origin');
    const host = headers.get('host');
    originPolicy.checkHost(host);
    if (method === 'OPTIONS') return cors.preflight(origin);
    if (path === MCP_PATH) {
      originPolicy.checkOrigin(origin, host);
      refuseSessionInQuery(request);
      return this.#using(
        tally,
        async (entry) => mcp.handle(await this.#authenticated(request, entry)),
        false,
      );
    }
    if (!SAFE_METHODS.includes(method)) originPolicy.checkOrigin(origin, host);
    const found = router.find(request);
    refuseSessionInQuery(request);
    if (found.route.mayStream || found.route.waitsForTurn)
      return this.#using(tally, (entry) => this.#dispatch(request, found, entry));
    if (method === 'GET' && path.startsWith('/api/')) return this.#read(request, found, tally);
    return this.#dispatch(request, found, { tally });
  }

  /** An event stream, if the client asks for one. */
  async #read(request: AgentRequest, found: FoundRoute, tally: RequestTally): Promise<HttpResponse> {
    if (!(await acceptsEventStream(request))) return this.#dispatch(request, found, { tally });
    return this.#using(tally, (entry) => this.#openStream(request, found, entry));
  }

  /** Throws, or rejects. */
  #dispatch(request: AgentRequest, found: FoundRoute, entry: Entry): HttpResponse | Promise<HttpResponse> {
    const { route, parameters } = found;
    const served = this.#admitted(request, found, entry);
    return served instanceof Promise
      ? served.then((admitted) => route.handler(admitted, parameters))
      : route.handler(served, parameters);
  }

  /** The request of a client that may use the route. Throws, or rejects. */
  #admitted(
    request: AgentRequest,
    { route }: FoundRoute,
    entry: Entry,
  ): ServedRequest | Promise<ServedRequest> {
    if (route.access === 'open') {
      entry.tally.byAddress(this.#addressOf(request));
      return { ...request, context: forAgent(ANYONE, request.agent ?? this.#deps.agents?.first) };
    }
    const served = this.#authenticated(request, entry);
    const allowed = (known: ServedRequest) => this.#allowed(known, request, route);
    return served instanceof Promise ? served.then(allowed) : allowed(served);
  }

  /** Throws, or rejects, if nobody knows the client, or if it has sent too many. */
  #authenticated(request: AgentRequest, { tally, use }: Entry): ServedRequest | Promise<ServedRequest> {
    const address = this.#addressOf(request);
    const { agents, authenticator, credentials } = this.#deps;
    const served = (context: RequestContext): ServedRequest => {
      // At once: the credential may be revoked from here on.
      use?.begin(context, address);
      tally.byClient(context);
      const hasBody = context.rights && !SAFE_METHODS.includes(request.method);
      return {
        ...request,
        ...(hasBody && {
          body: clientBody(request, context, {
            credentials,
            onRefused: (error) =>
              authenticator.noteRefusal?.(context, `${request.method} ${request.path}`, error),
          }),
        }),
        context: forAgent(context, request.agent ?? agents?.first),
        credential: use?.credential,
        use,
      };
    };
    const context = requestContext(authenticator, request, address);
    return context instanceof Promise ? context.then(served) : served(context);
  }

  #allowed(
    served: ServedRequest,
    { agent }: AgentRequest,
    { access, method, path, takesArguments }: FoundRoute['route'],
  ): ServedRequest | Promise<ServedRequest> {
    const { agents, authenticator } = this.#deps;
    if (access !== 'open') authenticator.require?.(served.context, access, `${method} ${path}`);
    if (!agents || agent !== undefined || takesArguments) return served;
    // The body says which agent is meant if path and query do not.
    return agents.ofBody(served).then((named) => ({ ...served, context: forAgent(served.context, named) }));
  }

  async #openStream(request: AgentRequest, found: FoundRoute, entry: Entry): Promise<HttpResponse> {
    const served = await this.#admitted(request, found, entry);
    served.use?.openStream();
    return found.route.handler(served, found.parameters);
  }

  /**
   * What the request uses is given back when the answer, which may be a stream, is over.
   * @param isCounted whether an event stream counts as one.
   */
  async #using(
    tally: RequestTally,
    answer: (entry: Entry) => HttpResponse | Promise<HttpResponse>,
    isCounted = true,
  ): Promise<HttpResponse> {
    const { connections, credentials } = this.#deps;
    const use = new RequestUse({ connections, tally, credential: credentials?.forStream() });
    try {
      const response = await answer({ tally, use });
      const streams = isCounted && isEventStream(response) ? 1 : 0;
      this.#eventStreams += streams;
      const onOver = (): void => {
        this.#eventStreams -= streams;
        use.over();
        response.onOver?.();
      };
      return { ...response, onOver };
    } catch (error) {
      use.over();
      throw error;
    }
  }

  #addressOf({ peerAddress, headers }: HttpRequest): string {
    return this.#deps.clientAddress(peerAddress, headers.get('x-forwarded-for'));
  }

  refuse(error: ServiceError): HttpResponse {
    return errorResponse(error);
  }

  async #failure(thrown: unknown, request: AgentRequest): Promise<HttpResponse> {
    const { method } = request;
    const path = withoutAgentPrefix(request.path);
    const error = clientError(
      thrown instanceof StoreClosedError ? await this.#endedByStop(request) : thrown,
      this.#deps.log,
      { method, path },
      'a request failed unexpectedly',
    );
    const format = this.#deps.errorFormats?.find(({ prefix }) => path.startsWith(prefix));
    const response = (await format?.respond(error)) ?? errorResponse(error);
    const challenge = path === MCP_PATH ? this.#deps.protectedMcp?.challenge(request, error) : undefined;
    return { ...response, headers: { ...response.headers, ...challenge, ...refusalHeaders(error) } };
  }

  /** What a client gets whose request the service does not finish. */
  async #endedByStop(request: HttpRequest): Promise<ServiceError> {
    const { method, headers } = request;
    const mayBeRepeated =
      SAFE_METHODS.includes(method) || headers.has('idempotency-key') || (await this.#isDoneOnce(request));
    return mayBeRepeated ? serviceStopping() : requestInterrupted();
  }

  async #isDoneOnce(request: HttpRequest): Promise<boolean> {
    const { method, path } = request;
    const isDoneOnce = this.#deps.router.routeOf(method, withoutAgentPrefix(path))?.isDoneOnce;
    if (!isDoneOnce) return false;
    try {
      return isDoneOnce(parseJson(decodeText(await request.body())));
    } catch (error) {
      // A body that nobody can read was not done.
      this.#deps.log.debug({ err: error, method, path }, 'the body of an unfinished request cannot be read');
      return false;
    }
  }
}

type Headers = Readonly<Record<string, string>>;

/** A cache must know of everything that the answer depends on. */
function withCors(headers: Headers, ofCors: Headers): Headers {
  const all = { ...headers, ...ofCors };
  const isBoth = headers.Vary !== undefined && ofCors.Vary !== undefined;
  return isBoth ? { ...all, Vary: `${headers.Vary}, ${ofCors.Vary}` } : all;
}

function isEventStream({ body, stream }: HttpResponse): boolean {
  return body instanceof ReadableStream && stream !== 'bytes';
}

function classOf(status: number): keyof AnswerCounts {
  if (status >= 500) return '5xx';
  if (status >= 400) return '4xx';
  return status >= 300 ? '3xx' : '2xx';
}
