import type { CorsConfig } from '../../config/schema/agent-config.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import type { OriginPolicy } from './origin-policy.ts';

/** What clients read of an answer. MCP clients learn from `WWW-Authenticate` where and for what they have to sign in. */
const EXPOSED_HEADERS = [
  ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After'],
  ...['Mcp-Session-Id', 'X-Session-Id', 'X-Should-Retry', 'WWW-Authenticate'],
].join(', ');

/** The CORS headers for browsers. Without `cors.origins` there are none. */
export class Cors {
  readonly #config: CorsConfig;
  readonly #originPolicy: OriginPolicy;

  constructor(config: CorsConfig, originPolicy: OriginPolicy) {
    this.#config = config;
    this.#originPolicy = originPolicy;
  }

  /** Headers for every response to this origin. */
  headers(origin: string | undefined): Record<string, string> {
    if (this.#config.origins.length === 0) return {};
    if (origin === undefined || !this.#originPolicy.allowsOrigin(origin)) return { Vary: 'Origin' };
    return {
      Vary: 'Origin',
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': EXPOSED_HEADERS,
    };
  }

  /** The response to a preflight. The caller adds `headers`, as to every response. */
  preflight(origin: string | undefined): HttpResponse {
    const { methods, headers, maxAgeSeconds } = this.#config;
    if (origin === undefined || !this.#originPolicy.allowsOrigin(origin))
      return { status: 204, headers: {}, body: null };
    return {
      status: 204,
      headers: {
        'Access-Control-Allow-Methods': methods.join(', '),
        'Access-Control-Allow-Headers': headers.join(', '),
        'Access-Control-Max-Age': String(maxAgeSeconds),
      },
      body: null,
    };
  }
}
