import type { NeededScopes } from '../../core/access/scopes.ts';
import { ServiceError } from '../../core/errors.ts';
import { percentDecoded } from '../../core/percent-decoded.ts';
import type { HttpRequest, HttpResponse } from '../../ports/web-server.ts';
import type { ServedRequest } from './http-message.ts';

export type Parameters = Readonly<Record<string, string>>;
export type RouteHandler = (request: ServedRequest, parameters: Parameters) => Promise<HttpResponse>;

/** What a client needs for a route where clients are authenticated. `open`: no credential. */
export type RouteAccess = 'open' | NeededScopes;

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly access: RouteAccess;
  /** Such as `/api/mcp/servers/:serverId/tools`, or `/a2a/tasks/:taskId:cancel`, where a verb ends the segment. */
  readonly path: string;
  readonly handler: RouteHandler;
  /** Whether the body is the arguments of a tool, so that its fields mean nothing here. */
  readonly takesArguments?: true;
  /**
   * Whether the answer may be a stream: of events for a client that asks for them, by its `Accept`, or by a field of its body or
   * its query, or of bytes. Each `GET` route of the REST interface may stream events.
   */
  readonly mayStream?: true;
  /** Whether the body may hold an image in base64, which is longer than its bytes. */
  readonly takesImages?: true;
  /** Whether one answer may take as long as a turn. It is refused when the client loses the right to it meanwhile. */
  readonly waitsForTurn?: true;
  /**
   * Whether a request with this body, which is JSON, is done once, however often it is sent. Others are if they have an
   * `Idempotency-Key`.
   */
  readonly isDoneOnce?: (body: unknown) => boolean;
}

export interface FoundRoute {
  readonly route: Route;
  readonly parameters: Parameters;
}

interface CompiledRoute extends Route {
  readonly segments: readonly string[];
}

/** Finds the handler of a request. Paths without parameters are looked up in a map. */
export class Router {
  readonly #fixed = new Map<string, Route[]>();
  readonly #withParameters: CompiledRoute[] = [];

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      if (route.path.includes('/:')) this.#withParameters.push({ ...route, segments: route.path.split('/') });
      else this.#fixed.set(route.path, [...(this.#fixed.get(route.path) ?? []), route]);
    }
  }

  /** Throws `INVALID_REQUEST` for an unknown path, a wrong method, or an invalid percent-encoding. */
  find(request: Pick<HttpRequest, 'method' | 'path'>): FoundRoute {
    const { path } = request;
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const fixed = this.#fixed.get(path);
    if (fixed) {
      const route = fixed.find((candidate) => candidate.method === method);
      if (!route) throw wrongMethod(request, fixed);
      return { route, parameters: {} };
    }
    const segments = path.split('/');
    const matches = this.#withParameters.filter((route) => matchesPattern(route.segments, segments));
    const route = matches.find((candidate) => candidate.method === method);
    if (route) return { route, parameters: parametersOf(route.segments, segments) };
    throw matches.length > 0 ? wrongMethod(request, matches) : this.#unknownPath(request);
  }

  /** The route at a path without parameters. */
  routeOf(method: string, path: string): Route | undefined {
    return this.#fixed.get(path)?.find((route) => route.method === method);
  }

  #unknownPath({ method, path }: Pick<HttpRequest, 'method' | 'path'>): ServiceError {
    const issue = 'the path is unknown';
    const message = `There is nothing at ${method} ${path}.`;
    if (path.endsWith('/') && this.#isKnown(path.slice(0, -1)))
      return new ServiceError('INVALID_REQUEST', message, { issue, suggestion: 'Remove the / at the end.' });
    return new ServiceError('INVALID_REQUEST', message, {
      issue,
      suggestion: this.#fixed.has('/docs')
        ? 'See GET /docs or docs/protocol.md for all paths. Within an id, write / as %2F.'
        : 'With --mode mcp the service has /mcp and what belongs to it, the probes, the metrics and GET /api/health. --mode web has the rest.',
    });
  }

  #isKnown(path: string): boolean {
    const segments = path.split('/');
    return (
      this.#fixed.has(path) || this.#withParameters.some((route) => matchesPattern(route.segments, segments))
    );
  }
}

/** @param pattern the segments of a route's path. */
export function matchesPattern(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) => {
      const segment = segments[index] ?? '';
      if (!part.startsWith(':')) return part === segment;
      const { verb } = parameterIn(part);
      return segment.endsWith(verb) && segment.length > verb.length;
    })
  );
}

function parametersOf(pattern: readonly string[], segments: readonly string[]): Parameters {
  return Object.fromEntries(
    pattern.flatMap((part, index) => {
      if (!part.startsWith(':')) return [];
      const { name, verb } = parameterIn(part);
      const segment = segments[index] ?? '';
      return [[name, decode(segment.slice(0, segment.length - verb.length))]];
    }),
  );
}

/** @returns the verb with its colon; empty if there is none. */
function parameterIn(part: string): { name: string; verb: string } {
  const end = part.indexOf(':', 1);
  return end === -1 ? { name: part.slice(1), verb: '' } : { name: part.slice(1, end), verb: part.slice(end) };
}

function decode(segment: string): string {
  const text = percentDecoded(segment);
  if (text !== undefined) return text;
  throw new ServiceError('INVALID_REQUEST', 'The URL is not properly percent-encoded.', {
    issue: `"${segment}" cannot be decoded`,
    suggestion: 'Write a percent sign as %25.',
  });
}

function wrongMethod(
  { method, path }: Pick<HttpRequest, 'method' | 'path'>,
  routes: readonly Route[],
): ServiceError {
  const allowed = routes.map((route) => route.method);
  return new ServiceError('INVALID_REQUEST', `${path} does not answer ${method}.`, {
    issue: `the method is ${method}`,
    suggestion: `Use ${allowed.join(' or ')}.`,
    allowed,
  });
}
