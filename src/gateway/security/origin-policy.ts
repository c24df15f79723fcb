import { isIP } from 'node:net';
import { ServiceError } from '../../core/errors.ts';

export interface OriginRules {
  /** The address the service listens on. */
  readonly listenHost: string;
  /** Further names from `server.allowedHosts`. */
  readonly allowedHosts: readonly string[];
  /** Origins from `cors.origins`; may contain `*`. */
  readonly allowedOrigins: readonly string[];
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const MAX_PORT = 65_535;
const DEFAULT_PORTS: Readonly<Partial<Record<string, number>>> = { 'http:': 80, 'https:': 443 };
const UNSPECIFIED = ['0.0.0.0', '::'];

/**
 * Checks the Host and Origin headers. Without authentication, `connect-server` starts
 * processes, so foreign web pages must not reach it. The Host check stops DNS rebinding: a page whose name
 * resolves to this machine. The Origin check stops cross-site sockets and forms.
 */
export class OriginPolicy {
  readonly #hosts: ReadonlySet<string>;
  readonly #listensEverywhere: boolean;
  readonly #origins: ReadonlySet<string>;
  /** The header that was accepted last. Most requests have the same. */
  #accepted: string | undefined;

  constructor({ listenHost, allowedHosts, allowedOrigins }: OriginRules) {
    const named = [...LOOPBACK_NAMES, listenHost, ...allowedHosts].map((host) =>
      hostName(host.toLowerCase()),
    );
    this.#hosts = new Set(named);
    this.#listensEverywhere = UNSPECIFIED.includes(listenHost);
    this.#origins = new Set(allowedOrigins);
  }

  /**
   * Throws unless the Host header names this service. If the service listens on all addresses, every IP address is
   * accepted, because an IP address cannot be rebound.
   */
  checkHost(host: string | undefined): void {
    if (host !== undefined && host === this.#accepted) return;
    if (!hasPossiblePort(host)) throw badHost(`its port is greater than ${MAX_PORT}`);
    if (!this.#isOwn(host ?? '')) throw foreignHost(host);
    this.#accepted = host;
  }

  #isOwn(host: string): boolean {
    const name = hostName(host.toLowerCase());
    return this.#hosts.has(name) || (this.#listensEverywhere && isIP(name.replace(/^\[|\]$/g, '')) !== 0);
  }

  /** Throws if the request comes from a page of another origin that is not configured. */
  checkOrigin(origin: string | undefined, host: string | undefined): void {
    if (origin === undefined || this.allowsOrigin(origin) || isSameOrigin(origin, host)) return;
    throw new ServiceError('FORBIDDEN', 'Pages of this origin may not use the service.', {
      field: 'Origin',
      issue: `"${origin}" is not an allowed origin`,
      suggestion: 'Add the origin to cors.origins in the agent file.',
    });
  }

  /** Whether `cors.origins` lists the origin. */
  allowsOrigin(origin: string): boolean {
    return this.#origins.has('*') || this.#origins.has(origin);
  }
}

/** URLs are made from the header, such as that of the metadata of `/mcp`. */
function hasPossiblePort(host = ''): boolean {
  const port = /:(\d+)$/.exec(host)?.[1];
  return port === undefined || Number(port) <= MAX_PORT;
}

function foreignHost(host: string | undefined): ServiceError {
  return new ServiceError('FORBIDDEN', 'The Host header names no host of this service.', {
    field: 'Host',
    issue: host === undefined ? 'the header is missing' : `"${host}" is not an allowed host`,
    suggestion: 'Add the name to server.allowedHosts in the agent file.',
  });
}

export function badHost(issue: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The Host header is not valid.', { field: 'Host', issue });
}

/** An origin has no port where its scheme has that one anyway. A Host header may have it: some proxies add it. */
function isSameOrigin(origin: string, host: string | undefined): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: own } = new URL(origin);
  const named = host?.toLowerCase();
  const port = DEFAULT_PORTS[protocol];
  return named === own || (port !== undefined && named === `${own}:${port}`);
}

/** Removes the port, and puts an IPv6 address in brackets as in a Host header. */
function hostName(host: string): string {
  if (isIP(host) === 6) return `[${host}]`;
  return host.replace(/:\d*$/, '');
}
