import type { z } from 'zod';
import { percentDecodedIfValid } from '../../../core/percent-decoded.ts';
import type { HttpServerConfig } from '../../../core/tool-server/mcp-server-config.ts';
import type { Mask } from '../failure/secret-mask.ts';
import { authorizedFetch } from '../oauth/authorized-fetch.ts';
import type { ServerAuthorization } from '../oauth/server-authorization.ts';
import { type Fetch, fetchInTrace } from './http-fetch.ts';

export type HttpConfig = z.infer<typeof HttpServerConfig>;

/** Where a server is, and how to reach it. */
export interface HttpEndpoint {
  /** Without user and password: `fetch` refuses them, and they must not show in an error. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  readonly mask: Mask;
}

export interface EndpointOptions {
  readonly mask: Mask;
  /** Authorizes the requests; null if a 401 is an error. */
  readonly access: ServerAuthorization | null;
}

export function httpEndpoint(config: HttpConfig, { mask, access }: EndpointOptions): HttpEndpoint {
  const fetch = access === null ? fetchInTrace : authorizedFetch(access, fetchInTrace);
  return { ...addressOf(config), fetch, mask };
}

/** Whether a 401 begins OAuth. A server with configured credentials refuses those, unless OAuth is configured, too. */
export function asksForOAuth(config: HttpConfig): boolean {
  if (config.oauth !== undefined) return config.oauth !== false;
  return !Object.keys(addressOf(config).headers).some(isAuthorization);
}

function isAuthorization(name: string): boolean {
  return name.toLowerCase() === 'authorization';
}

/** Turns the credentials of a URL into an `Authorization` header. A configured header wins. */
function addressOf(config: HttpConfig): Pick<HttpEndpoint, 'url' | 'headers'> {
  const url = new URL(config.baseUrl);
  const headers = { ...config.headers };
  const isAuthorized = Object.keys(headers).some(isAuthorization);
  if (!isAuthorized && (url.username !== '' || url.password !== '')) {
    const credentials = `${percentDecodedIfValid(url.username)}:${percentDecodedIfValid(url.password)}`;
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  }
  url.username = '';
  url.password = '';
  return { url, headers };
}
