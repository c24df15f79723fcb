import { isIP } from 'node:net';
import { ServiceError } from '../../core/errors.ts';

export interface AccessRules {
  /** The address the service listens on. */
  readonly listenHost: string;
  /** Further names from `server.allowedHosts`. */
  readonly allowedHosts: readonly string[];
  /** Origins from `cors.origins`; may hold `*`. */
  readonly allowedOrigins: readonly string[];
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const UNSPECIFIED = ['0.0.0.0', '::'];

/**
 * Who may address the service. There is no authentication, and `connect-server` starts processes, so a web
 * page elsewhere must reach neither: the Host check stops pages whose name was rebound to this machine, the
 * Origin check stops cross-site sockets and forms.
 */
export class Access {
  readonly #hosts: ReadonlySet<string>;
  readonly #anyAddress: boolean;
  readonly #origins: ReadonlySet<string>;

  constructor({ listenHost, allowedHosts, allowedOrigins }: AccessRules) {
    const named = [...LOOPBACK_NAMES, listenHost, ...allowedHosts].map((host) =>
      hostName(host.toLowerCase()),
    );
    this.#hosts = new Set(named);
    this.#anyAddress = UNSPECIFIED.includes(listenHost);
    this.#origins = new Set(allowedOrigins);
  }

  /** Throws unless the Host header names this service. A literal address cannot be rebound. */
  checkHost(host: string | undefined): void {
    const name = hostName((host ?? '').toLowerCase());
    if (this.#hosts.has(name)) return;
    if (this.#anyAddress && isIP(name.replace(/^\[|\]$/g, '')) !== 0) return;
    throw new ServiceError('FORBIDDEN', 'The Host header names no host of this service.', {
      field: 'Host',
      issue: host === undefined ? 'the header is missing' : `"${host}" is not an allowed host`,
      suggestion: 'Add the name to server.allowedHosts in the agent file.',
    });
  }

  /** Throws unless the request comes from no page, from a page of this service, or from a configured origin. */
  checkOrigin(origin: string | undefined, host: string | undefined): void {
    if (origin === undefined || this.allowsOrigin(origin) || isSameOrigin(origin, host)) return;
    throw new ServiceError('FORBIDDEN', 'Pages of this origin may not use the service.', {
      field: 'Origin',
      issue: `"${origin}" is not an allowed origin`,
      suggestion: 'Add the origin to cors.origins in the agent file.',
    });
  }

  /** Whether `cors.origins` names it. */
  allowsOrigin(origin: string): boolean {
    return this.#origins.has('*') || this.#origins.has(origin);
  }
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}

/** Without the port. An IPv6 address stands in brackets, as in a Host header. */
function hostName(host: string): string {
  if (isIP(host) === 6) return `[${host}]`;
  return host.replace(/:\d*$/, '');
}
